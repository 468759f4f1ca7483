import { expect, test } from "@jest/globals";
import { parseAddress, parseStreetLines } from "./parse-address.ts";

type Row = [text: string, street: string, unit: string, place: string];

/** The parts in three texts: number, directions, name and type; unit or box; city, state and ZIP. */
function read(text: string): [string, string, string] {
  const { number, preDirection, name, type, postDirection, units, box, city, state, zip5 } = parseAddress(text);
  const line = (...parts: readonly string[]) => parts.filter((part) => part !== "").join(" ");
  return [
    line(number, preDirection, ...name, type, postDirection),
    line(...units, box && `box ${box}`),
    line(...city, state, zip5),
  ];
}

test.each<Row>([
  ["1750 Presidents Street, Suite 10, Reston, VA 20190-5617", "1750 PRESIDENTS ST", "10", "RESTON VA 20190"],
  ["1750 presidents st ste 10 reston va 201905617", "1750 PRESIDENTS ST", "10", "RESTON VA 20190"],
  ["5 K St. N.W., Washington, D.C. 20001", "5 K ST NW", "", "WASHINGTON DC 20001"],
  ["1 West Fifth Avenue, New York, New York", "1 W 5TH AVE", "", "NEW YORK NY"],
  ["8128 S. Dr Martin Luther King Jr Drive", "8128 S DR MARTIN LUTHER KING JR DR", "", ""],
  ["2021 St. Johns Ave., Jacksonville FL", "2021 ST JOHNS AVE", "", "JACKSONVILLE FL"],
  ["214 South Boulevard, Evanston, 60202", "214 S BLVD", "", "EVANSTON 60202"],
  ["12 Oak St St Paul MN 55101", "12 OAK ST", "", "ST PAUL MN 55101"],
  ["261 Anderson Rd N Rock Hill SC 29730", "261 ANDERSON RD N", "", "ROCK HL SC 29730"],
  ["27 Washington Oak Park IL 60302", "27 WASHINGTON", "", "OAK PARK IL 60302"],
  ["610 East Main Marion Kansas", "610 E MAIN", "", "MARION KS"],
  ["37-28 75th Street, Queens NY", "37-28 75TH ST", "", "QUEENS NY"],
  ["123 1/2 Main St, Ames IA", "123 1/2 MAIN ST", "", "AMES IA"],
  ["11719 B Jefferson Ave Ste 103", "11719B JEFFERSON AVE", "103", ""],
  ["W148 N9748 Tree Tops Dr, Germantown, WI 53022", "W148N9748 TREE TOPS DR", "", "GERMANTOWN WI 53022"],
  ["One Busch Place, Saint Louis, Missouri 63118", "1 BUSCH PL", "", "ST LOUIS MO 63118"],
  ["P.O. Box 88, St Joseph, MI 49085", "", "box 88", "ST JOSEPH MI 49085"],
  ["RR 2 Box 152, Rio IL 61472", "2 RR", "box 152", "RIO IL 61472"],
  ["254 U.S. Highway No. 202, Pluckemin, NJ 07978", "254 202 HWY", "", "PLUCKEMIN NJ 07978"],
  ["14442 County Road 546 Nevada TX 75173", "14442 546 CR", "", "NEVADA TX 75173"],
  ["55 E Monroe - 37th Floor, Chicago, IL 60603", "55 E MONROE", "37", "CHICAGO IL 60603"],
  ["6251 Smithpointe Dr # 132 Peachtree Corners GA", "6251 SMITHPOINTE DR", "132", "PEACHTREE CORS GA"],
  ["Attn: Payroll, Quasar Building, 12 Oak Ave, Reno NV 89501", "12 OAK AVE", "", "RENO NV 89501"],
  ["14th Floor Quasar Tower 401 Church Street Nashville TN 37243", "401 CHURCH ST", "14", "NASHVILLE TN 37243"],
  ["Attn: Office, 12 Oak Street, Reno NV", "12 OAK ST", "", "RENO NV"],
  ["Suite 200, 7000 Oak Rd, Reno NV", "7000 OAK RD", "200", "RENO NV"],
  ["1000 County Road DB, Mosinee, WI", "1000 DB CR", "", "MOSINEE WI"],
  ["47 Birch Ct", "47 BIRCH CT", "", ""],
  ["47 Birch Ct, Hartford CT", "47 BIRCH CT", "", "HARTFORD CT"],
  ["1180 Peachtree Street, NE", "1180 PEACHTREE ST NE", "", ""],
  ["12 Elm St, Cambridge, MA 1241", "12 ELM ST", "", "CAMBRIDGE MA 01241"],
  ["Reston, Virginia", "", "", "RESTON VA"],
  ["", "", "", ""],
  ["constructor", "", "", "CONSTRUCTOR"],
])("%s", (text, street, unit, place) => expect(read(text)).toEqual([street, unit, place]));

test("the lines of a stored address are read as the street, even if they could name a city", () => {
  expect(parseStreetLines("100 OAK PARK", "STE 5")).toMatchObject({
    number: "100",
    name: ["OAK"],
    type: "PARK",
    units: ["5"],
  });
  expect(parseStreetLines("")).toMatchObject({ number: "", name: [], units: [] });
});

test("a long text takes bounded work", () => {
  expect(parseAddress("12 Oak St ".repeat(5_000)).number).toBe("12");
});
