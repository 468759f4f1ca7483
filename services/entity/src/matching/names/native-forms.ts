/**
 * Legal forms in other scripts, with the forms that they count as. A space in a spelling stands for any spaces, dots and
 * quotation marks, or none: `ذ م م` is also `ذ.م.م`. Spellings are in lower case.
 */
const lines = `
  co ltd: 有限公司, 有限责任公司, 有限責任公司, 股份有限公司, 주식회사, (주), 유한회사, (유), 유한책임회사, บจก
  co: 公司, บริษัท, ບໍລິສັດ, ក្រុមហ៊ុន, ကုမ္ပဏီ, شركة, شرکت, компания, компанія, εταιρεια, חברת
  kk: 株式会社, 株式會社, (株)
  yk: 有限会社, 有限會社, (有)
  gk: 合同会社, (同)
  lp: 合資会社, 合伙企业, 有限合伙, ห้างหุ้นส่วนจำกัด, หจก
  gp: 合名会社, ห้างหุ้นส่วนสามัญ, ο ε
  ltd: จำกัด, ຈຳກັດ, လီမိတက်, בע מ, המחודדת, المحدودة, محدودة, लिमिटेड, लि, লিমিটেড, லிமிடெட், లిమిటెడ్, لمیٹڈ, ε π ε
  plc: มหาชน, มหาชน จำกัด, ມະຫາຊົນ
  co plc: บมจ
  pvt ltd: प्राइवेट लिमिटेड, प्रा लि, প্রাইভেট লিমিটেড, பிரைவேட் லிமிடெட், ప్రైవేట్ లిమిటెడ్, پرائیویٹ لمیٹڈ
  llc: ذ م م, ش ذ م م, م م ح, ذات مسؤولية محدودة, ذات المسؤولية المحدودة, مسؤولية محدودة, با مسئولیت محدود, مسئولیت محدود
  jsc: ش م ع, ش م ك, ش م ل, ش م م, ش م س, ش م ب, مساهمة عامة, مساهمة مقفلة, مساهمة, المساهمة, سهامی عام, سهامی خاص
  est: مؤسسة
  sa: α ε, ανωνυμη εταιρεια, ανωνυμος εταιρεια
  ike: ι κ ε
  ooo: ооо, общество с ограниченной ответственностью, тов, товариство з обмеженою відповідальністю
  ooo: тоо, товарищество с ограниченной ответственностью, жшс, ххк, шпс, შპს, სპს, սպը
  oao: оао, открытое акционерное общество, ват, відкрите акціонерне товариство, բբը
  zao: зао, закрытое акционерное общество, прат, приватне акціонерне товариство, փբը
  pao: пао, публичное акционерное общество, пат, публічне акціонерне товариство
  jsc: ао, нао, акционерное общество, ат, акціонерне товариство, ад, еад, акционерно дружество, ақ, хк, სს
  ou: oü
  ood: оод, еоод, дружество с ограничена отговорност
  doo: д о о, друштво са ограниченом одговорношћу
  gup: гуп, фгуп, муп, дп, державне підприємство
  ip: ип, индивидуальный предприниматель, фоп, чп, пп, приватне підприємство
`;

/** Letters of scripts that are written without spaces between words, where a form is attached to the name. */
const unspaced = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}ー]/gu;
/** What may be between the letters of a form. */
const gap = "[\\s.'\"\u05f3\u05f4]";
const gaps = new RegExp(gap, "gu");
/** More than a form may have between two letters. */
const wideGap = new RegExp(`${gap}{3}`, "u");
const before = "(?<![\\p{L}\\p{M}])";
const after = "(?![\\p{L}\\p{M}])";

const formsBySpelling = new Map(
  lines
    .trim()
    .split("\n")
    .map((line) => line.trim().split(": "))
    .flatMap(([forms, texts]) => texts!.split(", ").map((text) => [bare(text.normalize("NFKC")), forms!.split(" ")])),
);
const longestFirst = [...formsBySpelling.keys()].sort((a, b) => b.length - a.length);
const { bracketed = [], attached = [], apart = [] } = Object.groupBy(longestFirst, kindOf);

/**
 * Between words a form is a word of its own; where words have no spaces, it may be attached at one side. V8 writes out
 * repetitions of up to three, and what stands around each form. A pattern with those takes a second to compile, in which no other
 * call goes on: so gaps of four are found and refused, and what stands around forms is looked at for all of them together.
 */
const pattern = new RegExp(
  [
    bracketed.map((text) => text.replace(/[()]/g, "\\$&")).join("|"),
    `${before}(?:${attached.join("|")})|(?:${attached.join("|")})${after}`,
    `${before}(?:${apart.map((text) => [...text].join(`${gap}{0,4}`)).join("|")})${after}`,
  ].join("|"),
  "gu",
);
const MOST_FORMS = 4;

/** A name's text without the legal forms of other scripts; "native" are its letters of scripts without spaces. */
export interface NativeText {
  readonly text: string;
  readonly forms: readonly string[];
  readonly native: string;
}

/** Takes the legal forms of other scripts out of a text in lower case (NFKC), unless it has nothing else. */
export function withoutNativeForms(text: string): NativeText {
  const forms = new Set<string>();
  let left = text;
  // A form may be attached to another one.
  for (let pass = 0, before = ""; pass < MOST_FORMS && before !== left; pass++) {
    before = left;
    left = left.replace(pattern, (found) => {
      if (wideGap.test(found)) return found;
      for (const form of formsBySpelling.get(bare(found)) ?? []) forms.add(form);
      return " ";
    });
  }
  const isName = /[\p{L}\p{N}]/u.test(left);
  const own = isName ? left : text;
  return { text: own, forms: isName ? [...forms] : [], native: own.match(unspaced)?.join("") ?? "" };
}

function bare(text: string): string {
  return text.replace(gaps, "");
}

function kindOf(text: string): "bracketed" | "attached" | "apart" {
  if (text.startsWith("(")) return "bracketed";
  return text.match(unspaced) ? "attached" : "apart";
}
