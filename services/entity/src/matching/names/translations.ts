import { wordTable } from "../word-list.ts";

/** General words of business and places; each line has the English word, then its other forms and translations. */
const synonyms = wordTable(`
  international internationale internationales internacional internazionale mezhdunarodnyy
  technology technologies technologie technologien tecnologia tecnologias tekhnologii technical
  industries industry industrie industria industrias industrien industrial industrielle
  electronics electronic elektronik electronique electronica elektronica elettronica
  electric electrical elektrik electrique electrica elektro
  products product produkte produits productos producten produktion prodotti
  research recherche recherches forschung onderzoek investigacion ricerca
  development entwicklung developpement ontwikkeling desarrollo sviluppo
  factory works plant fabrik fabriken fabriek fabrieken fabrique fabrica zavod werke
  manufacturing manufacture fabrication fabricacion manufaktur proizvodstvo
  company gesellschaft societe sociedad societa compagnie compania companhia maatschappij
  bank banking banque banco banca
  insurance versicherung versicherungen assurance assurances seguros verzekering assicurazioni
  group gruppe groupe grupo groep gruppo gruppa
  holding holdings beteiligungen
  trade trading handel handels commerce comercio commerciale comercial torgovyy
  chemical chemicals chemie chimie chimique quimica chimica khimicheskiy
  pharmaceuticals pharmaceutical pharma pharmazeutika farmaceutica pharmaceutique
  royal koninklijke koninklijk koenigliche royale real
  union verband vereniging verein association asociacion associazione soyuz
  institute institut instituto istituto instituut
  university universitat universitaet universite universidad universita universiteit
  foundation stiftung fondation fundacion stichting fondazione fond
  brothers gebruder gebrueder freres hermanos fratelli gebroeders
  sons sohne soehne fils hijos figli zonen
  center zentrum centro centrum tsentr
  national nationale nacional nazionale natsionalnyy
  general generale allgemeine algemene generalnyy
  construction bau construcciones costruzioni bouw stroitelnyy
  engineering ingenieria ingenierie ingegneria inzhiniring
  instrument instruments apparatus apparate priborostroitelnyy
  transport transportation transporte transportes trasporti spedition
  steel stahl acier acero staal acciaio
  oil petroleum petrole petroleo neft mineraloel
  foods food lebensmittel alimentos alimentaire alimentari voeding
  marketing vertrieb distribution distribucion verkoop
  services service dienste servicios servizi diensten dienstleistungen
  systems system systeme systemes sistemas sistemi systemen
  patent patents patentverwaltung
  island islands isla ile
  labor labour
  america americas usa us unitedstates
  britain uk england unitedkingdom
  netherlands netherland nederland holland niederlande nl
  germany deutschland allemagne alemania duitsland
  switzerland schweiz suisse svizzera
  austria osterreich oesterreich
  france frankreich francia frankrijk
  spain espana espagne spanien
  italy italia italie italien
  belgium belgie belgique belgien
  sweden sverige schweden suede
  norway norge norwegen norvege
  denmark danmark danemark
  finland suomi finnland
  poland polska polen pologne
  brazil brasil bresil
  mexico mexique mexiko
  russia rossiya russland rossiyskiy russian
  turkey turkiye tuerkei
  europe europa european europeenne europaeische
  munich muenchen munchen
  hague haag haga gravenhage
  cologne koln koeln
  vienna wien
`);

const meaningOf = new Map(synonyms.flatMap((words) => words.map((word) => [word, words[0]!] as const)));

/** The English word for a general word of business in any language; undefined for other words. */
export function meaningIn(word: string): string | undefined {
  return meaningOf.get(word);
}

/** True when two different words are translations or forms of each other. */
export function areTranslations(a: string, b: string): boolean {
  const meaning = meaningOf.get(a);
  return meaning !== undefined && meaning === meaningOf.get(b);
}
