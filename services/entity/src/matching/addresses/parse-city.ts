import { wordList } from "../word-list.ts";
import { directionOf } from "./usps.ts";

/** Second words of cities whose first word "St" does not mean a street. */
const saints = new Set(
  wordList(`
    ALBANS ANN ANNE ANTHONY AUGUSTINE CHARLES CLAIR CLAIRSVILLE CLOUD CROIX FRANCIS GABRIEL GEORGE HELENA HELENS JAMES
    JOE JOHN JOHNS JOHNSBURY JOSEPH LOUIS LUCIE MARTINVILLE MARYS MATTHEWS MICHAEL MICHAELS PAUL PAULS PETER PETERS
    PETERSBURG ROSE SIMONS STEPHEN STEPHENS THOMAS
  `),
);
/** Second words of cities whose first word is a direction. */
const directed = new Set(
  wordList(`
    MIAMI CHICAGO HOLLYWOOD ORANGE COVINA BEND SACRAMENTO CHARLESTON RICHLAND AUGUSTA LAFAYETTE ALLIS VALLEY HARTFORD
    HAVEN CHESTER RUTHERFORD BRUNSWICK LANSING MOINES MEMPHIS SEATTLE MONROE SALEM BERGEN FARGO PROVIDENCE
  `),
);

/** True where a city begins at `at` although the word could be a street's type or direction: "St Paul", "N Palm Beach". */
export function beginsCity(words: readonly string[], at: number): boolean {
  const next = words[at + 1];
  if (next === undefined) return false;
  if (words[at] === "ST" || words[at] === "SAINT") return saints.has(next);
  if (words[at] === "FORT" || words[at] === "FT" || words[at] === "MOUNT") return true;
  if (directionOf(words[at]!)?.length !== 1) return false;
  return directed.has(next) || (next === "PALM" && words[at + 2] === "BEACH" && words[at + 3] !== "GARDENS");
}

/** Words that many names of cities begin with. */
const firstWords = new Set(
  wordList(`
    SAN SANTA LOS LAS EL LA DE DEL NEW OLD SAINT ST STE SAULT FORT FT MOUNT MT PORT LAKE LITTLE BIG PALM OAK CEDAR GRAND
    GREEN LONG SALT WHITE RED BLUE ROCK COLLEGE DES BATON KANSAS OKLAHOMA JERSEY IOWA CARSON COLORADO VIRGINIA
    UNIVERSITY WINTER COUNCIL CHAPEL SILVER SPRING BOWLING CORPUS COEUR COSTA CHULA DALY EAU FOND HIGHLAND HUNTINGTON
    LEES MISSION MONTE MYRTLE NIAGARA NORTH SOUTH EAST WEST PALO PARK PINE POMPANO RANCHO ROUND SIOUX TERRE TOMS
    TRAVERSE TWIN UPPER LOWER WALNUT WEBSTER WISCONSIN ELK BELLE CAPE GLEN HOT KEY MARBLE
  `),
);
/** Words that many names of cities end with. */
const lastWords = new Set(
  wordList(`
    CITY BEACH PARK SPRINGS SPRING FALLS HEIGHTS HILLS HILL GROVE LAKE LAKES VALLEY ISLAND CREEK VILLAGE RAPIDS ROCK
    POINT PT RIDGE RIVER BLUFF BLUFFS TOWNSHIP TWP FOREST HARBOR HARBOUR ROUGE FERRY WORTH JUNCTION STATION CENTER MILLS
    GARDENS PINES PLAINS PRAIRIE RANCH TOWN BRANCH CORNERS COVE OAKS WOODS HAVEN SHORES BAY BEND SUMMIT GLEN LANDING
    CROSSING CHURCH COURTHOUSE
  `),
);
const longest = 4;

/**
 * How many of the last words are the city, where only the words show where the street ends: 2 for "Washington Oak Park".
 * At least one word is left for the street.
 */
export function cityLength(words: readonly string[]): number {
  const most = Math.min(longest, words.length - 1);
  for (let length = most; length > 1; length--) {
    const own = words.slice(-length);
    const middle = own.slice(0, -1);
    const startsSo =
      middle.every((word) => firstWords.has(word)) || (length > 2 && own[1] === "LAKE" && own[0] === "SALT");
    const endsSo = lastWords.has(own.at(-1)!) && (length === 2 || firstWords.has(own[0]!));
    if ((startsSo || endsSo) && !(directionOf(own[0]!)?.length === 2)) return length;
  }
  return most > 0 ? 1 : 0;
}
