import { describe, expect, test } from "@jest/globals";
import { nameAgrees } from "./name-agrees.ts";

describe("a name agrees with", () => {
  test.each<[string, string]>([
    ["ACME SUPPLY", "ACME SUPPLY, LLC"],
    ["Acme Supply L.L.C.", "ACME SUPPLY, LLC"],
    ["Acme Supply, limited liability company", "ACME SUPPLY, LLC"],
    ["The Acme Supply", "ACME SUPPLY, LLC"],
    ["Supply, Acme", "ACME SUPPLY, LLC"],
    ["Leidos Incorporated", "LEIDOS, INC."],
    ["Boeing Company, The", "THE BOEING COMPANY"],
    ["The Procter & Gamble Company", "PROCTER AND GAMBLE CO"],
    ["Johnson &amp; Johnson", "JOHNSON & JOHNSON"],
    ["Ford Motor", "FORD MOTOR COMPANY"],
    ["Microsoft Corp.", "MICROSOFT CORPORATION"],
    ["Hewlett-Packard Co.", "HEWLETT PACKARD COMPANY"],
    ["Wal-Mart Stores Inc", "WALMART STORES INC"],
    ["vanderbilt corp", "Van der Bilt Corp"],
    ["AT&T Corp.", "A T & T CORPORATION"],
    ["U.S. Steel", "US STEEL"],
    ["L.X.C. Aviation", "LXC AVIATION"],
    ["J. J. Welding", '"J. J. WELDING, INC."'],
    ["Standard & Poor's", "STANDARD AND POORS"],
    ["OBrien Builders", "O'BRIEN BUILDERS LLC"],
    ["Café Río", "CAFE RIO INC"],
    ["Nestlé", "NestlÃ©"],
    ["Austin, City of", "CITY OF AUSTIN"],
    ["Regents of the University of California", "THE REGENTS OF THE UNIVERSITY OF CALIFORNIA"],
    ["Sandra A. McDougall", "MCDOUGALL, SANDRA A"],
    ["1st International Bank", "FIRST INTERNATIONAL BANK"],
    ["Brigade Forty Four", "BRIGADE 44"],
    ["Three Percenters", "3 PERCENTERS"],
    ["Harbor Fund II LP", "HARBOR FUND 2, L.P."],
    ["Kestrel Mfg Co", "KESTREL MANUFACTURING COMPANY"],
    ["Kestrel Intl. Svcs.", "KESTREL INTERNATIONAL SERVICES, INC."],
    ["Lorwin Bros Bldg Ctr", "LORWIN BROTHERS BUILDING CENTER"],
    ["World Health Organisation", "WORLD HEALTH ORGANIZATION"],
    ["Kestrel Enginering LLC", "KESTREL ENGINEERING LLC"],
    ["Kestrel Consturction LLC", "KESTREL CONSTRUCTION LLC"],
    ["Volkswagen Gesellschaft mit beschränkter Haftung", "VOLKSWAGEN GMBH"],
    ["ООО Ромашка", "Romashka OOO"],
    ["株式会社トヨタ自動車", "トヨタ自動車株式会社"],
    ["Kestrel Holdings LLC d/b/a Lorwin Marine", "KESTREL HOLDINGS LLC DBA LORWIN MARINE"],
    ["Lorwin Marine", "KESTREL HOLDINGS LLC DBA LORWIN MARINE"],
    ["Kestrel Holdings c/o Harbor Trust", "KESTREL HOLDINGS LLC"],
    ["#10 Check Agencies", "#10 CHECK AGENCIES INC"],
    ["6978 W North", '"6978 W. NORTH, INC."'],
  ])("%s: %s", (given, registered) => {
    expect(nameAgrees(given, [registered])).toBe(true);
  });
});

describe("a name is another one than", () => {
  test.each<[string, string]>([
    ["Acme Supply Inc", "ACME SUPPLY, LLC"],
    ["Leidos Corp", "LEIDOS, INC."],
    ["Leidos Co", "LEIDOS, INC."],
    ["Kestrel LLP", "KESTREL LP"],
    ["Acme Supply East Inc", "ACME SUPPLY INC"],
    ["Acme Supply", "ACME SUPPLY EAST"],
    ["Acme", "ACME SUPPLY"],
    ["Acme Supply Group", "ACME SUPPLY"],
    ["Acme Supply USA", "ACME SUPPLY"],
    ["Acme Holdings", "ACME CAPITAL"],
    ["Acme Acme", "ACME"],
    ["Acme Services", "ACME SERVICE"],
    ["Smith Associates", "SMITH ASSOCIATION"],
    ["Smith Associated", "SMITH ASSOCIATES"],
    ["Smith Assoc", "SMITH ASSOCIATES"],
    ["Global Tech", "GLOBAL TECHNOLOGIES"],
    ["Metro Bank", "METROPOLITAN BANK"],
    ["Sol Energy", "SOLUTIONS ENERGY"],
    ["ST Engineering", "STATE ENGINEERING"],
    ["Miami University", "UNIVERSITY OF MIAMI"],
    ["Bank of West", "BANK OF THE EAST"],
    ["R & D Systems", "RD SYSTEMS"],
    ["Harbor Fund 1", "HARBOR FUND 2"],
    ["Harbor Fund 1 2", "HARBOR FUND 12"],
    ["Blackstone Real Estate Partners V L.P.", "BLACKSTONE REAL ESTATE PARTNERS VI L.P."],
    ["Goldman Sachs Mortgage Loan Trust 2004-1", "GOLDMAN SACHS MORTGAGE LOAN TRUST 2005-1"],
    ["Bowne of Chicago, Inc.", "BOWNE OF CLEVELAND, INC."],
    ["Banco Santander S.A.", "BANCO SANTANDER CHILE S.A."],
    ["Deutsche Bank Trust Company", "DEUTSCHE BANK AG"],
    ["China Railroad Engineering Corporation", "CHINA RAILWAY ENGINEERING CORPORATION"],
    ["China National Pipeline Corporation", "CHINA NATIONAL PETROLEUM CORPORATION"],
    ["Projection Services", "PROTECTION SERVICES"],
    ["Smith Contactors", "SMITH CONTRACTORS"],
    ["Arthur Anderson", "ARTHUR ANDERSEN"],
    ["Christenson", "CHRISTENSEN"],
    ["Hoffmann Marine", "HOFFMAN MARINE"],
    ["Weisenthal", "WIESENTHAL"],
    ["Cardinal Wealth, Inc.", "CARDINAL HEALTH, INC."],
    ["Appel Inc.", "APPLE INC."],
    ["Glenmore plc", "GLENCORE PLC"],
    ["BWI Industries, Inc.", "BAE INDUSTRIES, INC."],
    ["The Sigma Group", "THE CIGNA GROUP"],
    ["John Smith", "JOHN A SMITH"],
    ["John Smith Jr", "JOHN SMITH SR"],
    ["ООО Ромашка", "ПАО Ромашка"],
    // One transliteration, two companies.
    ["宏达有限公司", "鸿达有限公司"],
    ["Jones LLC dba Lorwin Marine", "KESTREL HOLDINGS LLC DBA LORWIN MARINE"],
    ["Oracle DBA Experts LLC", "ORACLE CORP"],
    ["Unknown entity (UEI ABCDEFGHJK21)", "ACME SUPPLY"],
    ["LLC", "ACME LLC"],
    ["!!!", "???"],
    ["", "ACME"],
    ["", ""],
  ])("%s: %s", (given, registered) => {
    expect(nameAgrees(given, [registered])).toBe(false);
    expect(nameAgrees(registered, [given])).toBe(false);
  });
});

describe("of a company with several names", () => {
  const registered = ["KESTREL HOLDINGS, LLC", "LORWIN MARINE", "HARBOR BOATS INC"];

  test.each<[string, boolean]>([
    ["Kestrel Holdings", true],
    ["Lorwin Marine", true],
    ["Lorwin Marine LLC", true],
    // The company is an LLC, so this is another one.
    ["Lorwin Marine Inc", false],
    ["Harbor Boats Inc", true],
    ["Harbor Boats LLC", false],
    ["Kestrel Holdings LLC dba Lorwin Marine", true],
    ["Smith LLC dba Lorwin Marine", false],
    ["Kestrel Lorwin Marine", false],
  ])("%s: %s", (given, expected) => {
    expect(nameAgrees(given, registered)).toBe(expected);
  });

  test.each([
    ["Kestrel Holdings LLC dba Harbor Marine", "KESTREL HOLDINGS LLC"],
    ["Kestrel Boats, formerly Lorwin Marine", "LORWIN MARINE"],
  ])("%s is not only %s", (given, registered) => {
    expect(nameAgrees(given, [registered])).toBe(false);
  });

  test("without a name none agrees", () => {
    expect(nameAgrees("Acme", [])).toBe(false);
  });
});
