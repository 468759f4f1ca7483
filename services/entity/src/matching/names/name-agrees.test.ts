import { describe, expect, test } from "@jest/globals";
import { nameAgrees, namesAgree, readName } from "./name-agrees.ts";
import { bearSameName, nameKeys, nameQueryKeys } from "./screening.ts";

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
    // Without its last legal form; what stands before it are words.
    ["Miller Ag", "MILLER AG LLC"],
    ["Siemens N.A.", "SIEMENS NA INC"],
    ["Boeing Company", "THE BOEING COMPANY, INC."],
    ["Boeing", "THE BOEING COMPANY, INC."],
    ["NV Energy", "NV ENERGY, INC."],
    ["Wells Fargo Bank", "WELLS FARGO BANK, N.A."],
    ["Wells Fargo Bank NA", "WELLS FARGO BANK, NATIONAL ASSOCIATION"],
    ["Harbor Trust Company", "HARBOR TRUST COMPANY, N.A."],
    ["Pacific Mfg Co., Ltd.", "PACIFIC MANUFACTURING COMPANY LIMITED"],
    ["Miller GmbH & Co. KG", "MILLER GMBH & CO KG"],
    ["Acme Pty Limited", "ACME PTY LTD"],
    ["Acme, S.A. de C.V.", "ACME SA DE CV"],
    ["Jones Law, P.C.", "JONES LAW PROFESSIONAL CORPORATION"],
    ["Smith & Sons, P.L.L.C.", "SMITH AND SONS PLLC"],
    ["Twenty-First Century Roofing", "21ST CENTURY ROOFING"],
    ["First Energy Corp", "FIRSTENERGY CORP"],
    ["Harbor Fund X L P", "HARBOR FUND 10, L.P."],
    ["Studio X", "STUDIO X LLC"],
    ["Solar Fund 2 Phase 3", "SOLAR FUND II PHASE III LLC"],
    ["A+ Roofing", "A+ ROOFING LLC"],
    ["Smith + Jones LLC", "SMITH & JONES LLC"],
    ["Smith+Jones LLC", "SMITH AND JONES LLC"],
    ["Store #5", "STORE 5"],
    ["A-1 Towing", "A1 TOWING INC"],
    ["Joe’s Plumbing", "JOES PLUMBING LLC"],
    ["St. Mary's Hosp.", "ST MARYS HOSPITAL"],
    ["Saint Mary's Hospital", "ST MARYS HOSPITAL"],
    ["College of Mt. Kestrel", "COLLEGE OF MOUNT KESTREL"],
    ["Ft. Kestrel Marine", "FORT KESTREL MARINE"],
    ["OneMain Financial", "ONE MAIN FINANCIAL"],
    ["CapitalOne", "CAPITAL ONE"],
    ["Five Star Marine", "FIVESTAR MARINE"],
    ["3 M Company", "3M COMPANY"],
    ["John Smith Jr", "SMITH, JOHN JR"],
    ["John A Smith III", "SMITH, JOHN A III"],
    ["Jones Law PC", "JONES LAW, A PROFESSIONAL CORPORATION"],
    ["Kestrel Marine LLC", "KESTREL MARINE A LIMITED LIABILITY COMPANY"],
    ["Lorwin Electric Co-op", "LORWIN ELECTRIC COOPERATIVE"],
    ["Lorwin Co-Operative Assn", "LORWIN COOPERATIVE ASSOCIATION"],
    ["Wells Fargo Bank Natl. Assn.", "WELLS FARGO BANK, N.A."],
    ["Jones Law Prof. Assn.", "JONES LAW PA"],
    ["Kestrel Corpn", "KESTREL CORPORATION"],
    ["Kestrel, spol. s r.o.", "KESTREL S.R.O."],
  ])("%s: %s", (given, registered) => {
    expect(nameAgrees(given, [registered])).toBe(true);
    // Screening is never stricter.
    expect(bearSameName(given, registered)).toBe(true);
    const stored = nameKeys(registered);
    expect(nameQueryKeys(given).some((key) => stored.includes(key))).toBe(true);
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
    ["ST Engineering", "SAINT ENGINEERING"],
    ["Kestrel St", "KESTREL SAINT"],
    ["Vitamin LLC", "VITAMIN A LIMITED LIABILITY COMPANY"],
    ["Acme Primate Limited", "ACME PVT LTD"],
    ["John Smith Jr", "SMITH, JOHN"],
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
    // A form before another is a word of the name.
    ["Miller LLC", "MILLER AG LLC"],
    ["Miller", "MILLER AG LLC"],
    ["Smart LLC", "SMART PC LLC"],
    ["Veolia Inc", "VEOLIA PA INC"],
    ["Waste LLC", "WASTE SE LLC"],
    ["Siemens Inc", "SIEMENS NA INC"],
    ["Acme LLC", "ACME CORP LLC"],
    ["Acme LLC", "ACME LLC INC"],
    ["Boeing Inc", "THE BOEING COMPANY, INC."],
    ["Miller GmbH", "MILLER GMBH & CO. KG"],
    ["Acme Pty", "ACME PTY LTD"],
    ["Energy", "NV ENERGY"],
    ["Foods LLC", "KK FOODS LLC"],
    ["First Medical Inc", "ONE MEDICAL INC"],
    ["1st Source", "1 SOURCE"],
    ["Second Street", "TWO STREET"],
    ["Twenty First Century", "TWENTY ONE CENTURY"],
    ["Studio X LLC", "STUDIO 10 LLC"],
    ["Channel V", "CHANNEL 5"],
    ["Space X", "SPACE10"],
    ["Louis XV LLC", "LOUIS 15 LLC"],
    ["Solar Fund 2 Phase 3 LLC", "SOLAR FUND 3 PHASE 2 LLC"],
    ["Series 1 Trust 4", "SERIES 4 TRUST 1"],
    ["5.1 Audio", "1.5 AUDIO"],
    ["Capital One", "ONE CAPITAL"],
    ["First American Bank", "AMERICAN FIRST BANK"],
    ["Blue Sky LLC", "SKY BLUE LLC"],
    ["A+ Roofing", "A ROOFING"],
    ["Disney+", "DISNEY"],
    ["C++ Corp", "C CORP"],
    ["C# Consulting", "C CONSULTING"],
    ["Smith & Son", "SMITH & SONS"],
    ["Smith Holding LLC", "SMITH HOLDINGS LLC"],
    ["JB Smith LLC", "J SMITH LLC"],
    ["Texas Roofing LLC", "ROOFING LLC"],
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

describe("a name may lack a legal form, but have no other one than", () => {
  test.each<[string, string]>([
    ["Miller Ag LLC", "MILLER AG"],
    ["Smart PC LLC", "SMART PC"],
    ["Siemens NA Inc", "SIEMENS NA"],
    ["Boeing Company, Inc.", "THE BOEING COMPANY"],
  ])("%s: %s", (given, registered) => {
    expect(nameAgrees(given, [registered])).toBe(false);
    expect(nameAgrees(registered, [given])).toBe(true);
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

  test.each([
    ["C", true],
    ["C LLC", true],
    ["C Inc", false],
  ])("%s has the form of the legal name, not of another one: %s", (given, expected) => {
    expect(nameAgrees(given, ["A LLC DBA B INC", "C"])).toBe(expected);
  });

  test("without a name none agrees", () => {
    expect(nameAgrees("Acme", [])).toBe(false);
  });
});

describe("in an exact look-up two names agree", () => {
  test.each<[string, string, boolean]>([
    ["LEIDOS, INC.", "Leidos Incorporated", true],
    ["Leidos", "LEIDOS, INC.", true],
    ["Leidos Inc", "Leidos LLC", false],
    ["Leidos Inc", "Leidos Corp", false],
    ["Boeing Company", "The Boeing Company, Inc.", true],
    ["Smith & Sons", "SMITH AND SONS", true],
    ["Café Río", "CAFE RIO", true],
    ["AT&T Corp.", "A T & T Corporation", true],
    ["U.S. Steel", "US STEEL", true],
    ["Hewlett-Packard", "HEWLETT PACKARD", true],
    ["National Assoc of Nurses", "National Association of Nurses", true],
    ["Smith Assoc", "Smith Associates", true],
    ["Smith Associates", "Smith Association", false],
    ["1st International Bank", "First Int'l Bank", true],
    ["MCDOUGALL, SANDRA A", "Sandra A. McDougall", true],
    ["SMITH, JOHN V", "John V. Smith", true],
    ["SMITH, JOHN X", "John X Smith", true],
    ["XI, WEI", "Wei Xi", true],
    ["SMITH, JOHN V", "John X. Smith", false],
    ["SIA, WILLIAM", "William", false],
    ["Jones Law PC", "JONES LAW, A PROFESSIONAL CORPORATION", true],
    ["Philips, Eindhoven", "Philips Eindhoven", true],
    ["Harbor Fund 1", "Harbor Fund 2", false],
    ["Vortex Lab", "Vortex Laboratories", true],
    ["LUKOIL OIL COMP", "LUKOIL OIL COMPANY", true],
    ["Lorwin Limited Liability Comp", "Lorwin LLC", true],
    ["Lorwin Comp", "Lorwin Computer", false],
    ["Handy Man LLC", "Handy Man LLC", true],
    ["Kestrel Man Co", "Kestrel Manufacturing Co", true],
    ["S.C. Lorwin S.R.L.", "Lorwin SRL", true],
    ["PT Lorwin Tbk", "Lorwin Tbk", true],
    ["ООО Ромашка", "Ромашка ООО", true],
    ["ООО Ромашка", "ПАО Ромашка", false],
    // A private and a public company.
    ["บริษัท ปตท จำกัด", "บริษัท ปตท จำกัด (มหาชน)", false],
    ["บริษัท ปตท จำกัด", "บริษัท ทรู จำกัด", false],
    // One transliteration, two companies.
    ["宏达有限公司", "鸿达有限公司", false],
    ["トヨタ自動車株式会社", "株式会社トヨタ自動車", true],
    ["Miller Ag", "MILLER AG LLC", true],
    ["Miller AG LLC", "MILLER LLC", false],
    ["Veolia PA Inc", "VEOLIA", false],
    ["Miller GmbH & Co. KG", "MILLER GMBH", false],
    ["Boeing Inc", "BOEING COMPANY, INC.", false],
    ["NV Energy", "ENERGY", false],
    ["First Medical", "ONE MEDICAL", false],
    ["1st Medical", "FIRST MEDICAL", true],
    ["1 Medical", "ONE MEDICAL", true],
    ["Studio X", "STUDIO 10", false],
    ["Harbor Fund X", "HARBOR FUND 10", true],
    ["Solar Fund 2 Phase 3", "SOLAR FUND 3 PHASE 2", false],
    ["Disney+", "DISNEY", false],
    ["Smith + Sons", "SMITH & SONS", true],
    ["Blue Sky", "Sky Blue", false],
    ["Bluesky", "Blue Sky", false],
    ["Leidos", "Leidas", false],
    ["!!!", "???", false],
    ["", "", false],
  ])("%s / %s: %s", (a, b, expected) => {
    const [one, other] = [readName(a), readName(b)];
    expect(namesAgree(one, other)).toBe(expected);
    expect(namesAgree(other, one)).toBe(expected);
  });
});
