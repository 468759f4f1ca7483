import { expect, test } from "@jest/globals";
import { isCommonPassword } from "./common-passwords.ts";

/** The most frequent leaked passwords of 8 or more characters, from public lists. */
const leaked = `password 12345678 123456789 baseball football qwertyuiop 1234567890 1qaz2wsx trustno1 jennifer sunshine
iloveyou starwars computer michelle 11111111 princess 987654321 corvette 1234qwer 88888888 q1w2e3r4t5 internet samantha
whatever maverick steelers mercedes 123123123 qwer1234 hardcore q1w2e3r4 midnight bigdaddy victoria 1q2w3e4r cocacola
marlboro asdfasdf 87654321 12344321 jordan23 Password jonathan liverpool danielle abcd1234 scorpion qazwsxedc password1
slipknot qwerty123 startrek 12341234 redskins butthead asdfghjkl dolphins nicholas elephant mountain xxxxxxxx 1q2w3e4r5t
metallica benjamin creative rush2112 4815162342 passw0rd bullshit 1qazxsw2 garfield 69696969 december 11223344 godzilla
airborne lifehack brooklyn platinum darkness blink182 789456123 12qwaszx snowball pakistan playboy redwings williams
nintendo guinness november minecraft asdf1234 lasvegas babygirl 12121212 147258369 explorer snickers metallica paradise
michigan carolina kimberly 0987654321 qweasdzxc drowssap caroline einstein spitfire maryjane champion westside courtney
patricia anderson security stargate simpsons scarface 123456789a 1234554321 cherokee veronica semperfi scotland marshall
98765432 softball passport franklin alexander 55555555 zaq12wsx infinity kawasaki 77777777 vladimir wildcats budlight
brittany 00000000 bulldogs patriots pearljam colorado ncc1701d motorola juventus warcraft hello123 123654789 panthers
virginia predator 741852963 rolltide changeme lovelove chevelle cardinal michael1 147852369 wolfpack spiderman electric
123456789q american P@ssw0rd Password123! Summer2024! qwerty123456 welcome1 admin123 iloveyou2 letmein1 19900101
01011980 31.12.1999 aaaaaaaaaaaa abcabcabcabc qwertzuiop mypassword123 dragon69 superman1`.split(/\s+/);

test("the most frequent leaked passwords are common, even with an additional digit, sign, year or capital", () => {
  expect(leaked.filter((password) => !isCommonPassword(password))).toEqual([]);
});

test.each([
  "correct horse battery",
  "thunder-piano-lettuce",
  "kv7#Qz!m",
  "48291736",
  "lampshade",
  "fitzgerald",
  "3f2c9a1e-7b44",
  "dragonfruit smoothie",
  "correcthorsebatterystaple",
])("%s is not common", (password) => {
  expect(isCommonPassword(password)).toBe(false);
});

test("the longest password is checked without delay", () => {
  const long = Array.from({ length: 200 }, (_, index) => "abcdefghijk"[(index * index) % 11]).join("");
  expect(isCommonPassword(long)).toBe(false);
  expect(isCommonPassword("x".repeat(200))).toBe(true);
});
