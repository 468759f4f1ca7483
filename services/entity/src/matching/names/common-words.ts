import { osaDistance } from "../osa-distance.ts";
import { wordList } from "../word-list.ts";

/** Words that do not distinguish names; "koninklijke" is a title that the crown of the Netherlands confers on companies. */
const particles = new Set(
  wordList("and of the for in at on by to de la le el der und et te van a koninklijke koninklijk koninkl"),
);

/** Words that people add to names, since they say neither who a company is nor what it does. */
const oftenAdded = new Set(
  wordList(`
    group holding holdings company companies corporation corporate enterprise enterprises partners associates services
    service solutions industries international global worldwide national united usa us america american
  `),
);

/** Share of all business names that contain the word, roughly, by how common it is. */
const veryCommonShare = 0.02;
const commonShare = 0.008;

const veryCommon = new Set(
  wordList(`
    services service company corporation group construction enterprises management center associates international
    solutions systems food auto care home restaurant shop development consulting partners holdings industries medical
    supply health technologies american national united general global usa america bank trust design financial
  `),
);

const common = new Set(
  wordList(`
    academy accounting advanced agency air aerospace airport analytics applied art arts asset assets association
    authority automotive aviation bakery banking bar beauty best body brothers builders building business cafe capital
    car cargo catering central chemical chemicals church city cleaners cleaning clinic club college commercial
    communications community computer concrete consultants contracting contractors control controls cooling cooperative
    council county creative credit custom data defense dental department digital distribution distributors district
    division dynamics east eastern education educational electric electrical electronics emergency energy engineering
    engineers enterprise entertainment environmental equipment estate exchange express fabrication family farm farms
    federal finance fire first fitness foods foundation fund furniture gas government grill hair hardware healthcare
    heating holding homes hospital hotel house housing industrial information innovations innovative institute
    instruments insurance integrated international investment investments joint kitchen laboratories laboratory labs
    land landscaping law lawn learning lease legal library life limited liquor logistics machine machinery maintenance
    manufacturer manufacturing marine market marketing mart materials mechanical media memorial metal metals midwest
    mobile mortgage motor motors municipal music network networks new north northern northwest office oil operations
    organization packaging painting parking parts paving petroleum pharmaceuticals pharmacy physical pizza plant
    plastics plumbing plus power precision premier printing pro production productions products professional
    professionals program project projects properties property protection public publishing quality radio real realty
    recovery recycling rehabilitation rental rentals repair research resource resources retail roofing safety sales
    salon school schools science sciences scientific securities security senior society software sons south southern
    southwest spa specialties sports staffing star state states station steel storage store stores strategic street
    structures studio studios supplies support surgical system tax team technical technology telecommunications therapy
    tire tool tools towing trade trading training transport transportation travel truck trucking union university
    utilities valley ventures veterans veterinary village vision warehouse waste water welding west western wholesale
    wireless women wood work works world worldwide youth
  `),
);

/** True for words such as "and" and "of". */
export function isParticle(word: string): boolean {
  return particles.has(word);
}

/** True for words that people add to names, such as "Group" and "USA". */
export function isOftenAdded(word: string): boolean {
  return oftenAdded.has(word);
}

/** True for words of many business names: sharing one is no evidence, and an abbreviation of one is likely. */
export function isCommonWord(word: string): boolean {
  return veryCommon.has(word) || common.has(word);
}

/** Estimated share of all business names that contain a word; 0 for a rare word. */
export function priorShare(word: string): number {
  if (veryCommon.has(word) || particles.has(word)) return veryCommonShare;
  return common.has(word) ? commonShare : 0;
}

/** The common word that a word seems to misspell; undefined for a common word itself and for any other word. */
export function mistypedCommonWord(word: string): string | undefined {
  if (word.length < 5 || isCommonWord(word)) return undefined;
  const alike = new Set(withoutOneLetter(word).flatMap((text) => longByText.get(text) ?? []));
  return alike.size === 0 ? undefined : long.find((each) => alike.has(each) && osaDistance(word, each, 1) <= 1);
}

/** A word, and it without each of its letters. Of two words with one mistake between them one of these texts is the same. */
function withoutOneLetter(word: string): string[] {
  return [word, ...Array.from(word, (_, at) => word.slice(0, at) + word.slice(at + 1))];
}

const long = [...veryCommon, ...common].filter((word) => word.length >= 5);
const longByText = new Map<string, string[]>();
for (const word of long) {
  for (const text of withoutOneLetter(word)) longByText.set(text, [...(longByText.get(text) ?? []), word]);
}
