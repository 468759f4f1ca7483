// The words of the sandbox's names and addresses. None of the entities exists.

import { wordList } from "../matching/word-list.ts";

export const sandboxWords = wordList(`
  Amberfield Ashgrove Birchwater Blackthorn Bluestem Brightwell Cedarline Clearbrook Copperhill Coralgate Crosswind
  Dovetail Dunmore Eastlake Elkhorn Emberton Fairmont Falconridge Fernwood Flintlock Foxglove Glenhaven Goldfinch
  Granite Greystone Halyard Harborview Hawthorne Heartwood Highmark Hollowell Ironwood Juniper Kestrel Keystone
  Lakemont Larkspur Limestone Longleaf Maplecrest Meadowlark Merriweather Millbrook Moonstone Northfork Oakhaven
  Osprey Pinecrest Prairieland Quailrun Quarrystone Redwing Ridgeway Riverbend Rosewood Saddleback Sagebrush Sandhill
  Silverton Springvale Starling Stonebridge Summit Sycamore Tamarack Thistledown Timberlake Tradewind Valleyforge
  Vantage Walnutgrove Westbrook Whitewater Wildrose Willowbend Windermere Woodbine
`);

export const sandboxTrades = [
  ...["Engineering", "Construction", "Logistics", "Consulting", "Manufacturing", "Supply", "Electric", "Plumbing"],
  ...["Landscaping", "Technologies", "Software", "Medical Supply", "Environmental Services", "Staffing", "Security"],
  ...["Aerospace", "Machine Works", "Transport", "Foods", "Analytics", "Roofing", "Paving", "Laboratories", "Marine"],
] as const;

export const sandboxStreets = [
  ...["MAIN ST", "OAK AVE", "W MARKET ST", "INDUSTRIAL PKWY", "N COMMERCE DR", "RIVER RD", "COUNTY ROAD 12"],
  ...["SE HARBOR BLVD", "COLLEGE PL", "OLD MILL LN", "AIRPORT WAY", "E 5TH ST", "CAPITOL HWY", "FOUNDRY CT"],
] as const;

/** City, state and a ZIP code of that city. */
export const sandboxPlaces = [
  ["ALBUQUERQUE", "NM", "87102"],
  ["ARLINGTON", "VA", "22201"],
  ["BOISE", "ID", "83702"],
  ["BURLINGTON", "VT", "05401"],
  ["CHARLESTON", "WV", "25301"],
  ["COLUMBUS", "OH", "43215"],
  ["DENVER", "CO", "80202"],
  ["DES MOINES", "IA", "50309"],
  ["DURHAM", "NC", "27701"],
  ["FARGO", "ND", "58102"],
  ["FORT WORTH", "TX", "76102"],
  ["GRAND RAPIDS", "MI", "49503"],
  ["HARTFORD", "CT", "06103"],
  ["HUNTSVILLE", "AL", "35801"],
  ["KANSAS CITY", "MO", "64106"],
  ["LEXINGTON", "KY", "40507"],
  ["LITTLE ROCK", "AR", "72201"],
  ["MADISON", "WI", "53703"],
  ["OMAHA", "NE", "68102"],
  ["PITTSBURGH", "PA", "15222"],
  ["PORTLAND", "OR", "97204"],
  ["PROVIDENCE", "RI", "02903"],
  ["RENO", "NV", "89501"],
  ["SACRAMENTO", "CA", "95814"],
  ["SAINT PAUL", "MN", "55101"],
  ["SAVANNAH", "GA", "31401"],
  ["SPOKANE", "WA", "99201"],
  ["TAMPA", "FL", "33602"],
  ["TULSA", "OK", "74103"],
  ["TUCSON", "AZ", "85701"],
] as const;
