/** Characters that people write instead of letters. */
const STANDS_FOR: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "i",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  "@": "a",
  $: "s",
  "!": "i",
};

/** Sequences along the rows and columns of a keyboard, and the alphabet. */
const WALKS = [
  "qwertyuiop",
  "asdfghjkl",
  "zxcvbnm",
  "qwertzuiop",
  "azertyuiop",
  "1234567890",
  "0987654321",
  "abcdefghijklmnopqrstuvwxyz",
  "1qaz2wsx3edc4rfv5tgb",
  "qazwsxedcrfvtgb",
  "1q2w3e4r5t6y7u8i9o0p",
  "q1w2e3r4t5y6u7i8o9p0",
  "zaq12wsxcde34rfv",
  "1qazxsw23edcvfr4",
  "147258369",
  "741852963",
  "789456123",
  "123654789",
  "147852369",
  "qweasdzxc",
  "123qweasdzxc",
  "112233445566778899",
  "102030405060708090",
];
/** Years since 1900 and their dates, in the usual orders of year, month and day. */
const DATES = datePatterns();
/** Minimum length of a sequence, also backwards, to count as a part of a password. */
const MIN_WALK_LENGTH = 3;

/** A password of more parts is a phrase, which attackers do not try first. */
const MAX_PARTS = 3;
/** Longer than any three parts. */
const MAX_LENGTH = 48;

/**
 * Returns whether a password is among the tens of thousands that attackers try first: up to three of the most frequent
 * words of leaked passwords, keyboard sequences, dates and single characters, with up to four digits or signs around and
 * with letters written as digits; or one short text repeated. Other passwords may consist of any characters.
 */
export function isCommonPassword(password: string): boolean {
  const text = password.toLowerCase();
  if (/^(.{1,4})\1+$/u.test(text)) return true;
  const core = text.replace(/^[^a-z]{1,4}(?=[a-z])/, "").replace(/(?<=[a-z])[^a-z]{1,4}$/, "");
  return [text, core].some((form) => form.length <= MAX_LENGTH && fewestParts(form) <= MAX_PARTS);
}

/** Returns the minimum number of common parts that make up the whole text; infinite if there are other parts. */
function fewestParts(text: string): number {
  const fewest = [0];
  for (let end = 1; end <= text.length; end++) {
    fewest[end] = Number.POSITIVE_INFINITY;
    for (let start = 0; start < end; start++) {
      const parts = fewest[start]! + 1;
      if (parts < fewest[end]! && parts <= MAX_PARTS && isCommonPart(text.slice(start, end))) fewest[end] = parts;
    }
  }
  return fewest[text.length]!;
}

function asLetters(text: string): string {
  return [...text].map((character) => STANDS_FOR[character] ?? character).join("");
}

function isCommonPart(part: string): boolean {
  if (part.length === 1 || /^(.)\1+$/u.test(part) || /^[^a-z0-9]{1,4}$/.test(part)) return true;
  if (WORDS.has(part) || WORDS.has(asLetters(part)) || DATES.some((date) => date.test(part))) return true;
  return part.length >= MIN_WALK_LENGTH && WALKS.some((walk) => walk.includes(part) || walk.includes(backwards(part)));
}

function datePatterns(): readonly RegExp[] {
  const [day, month, year] = ["(0?[1-9]|[12]\\d|3[01])", "(0?[1-9]|1[0-2])", "(19|20)\\d\\d"];
  const orders = [[year], [day, month, year], [month, day, year], [year, month, day]];
  return orders.map((order) => new RegExp(`^${order.join("[-./]?")}$`));
}

function backwards(text: string): string {
  return [...text].reverse().join("");
}

/** Frequent words of leaked passwords, from all public lists; in lower case. */
const WORDS: ReadonlySet<string> = new Set(
  `password passwort passw0rd pass word wachtwoord motdepasse contrasena parola senha login admin administrator root user
  guest default changeme letmein welcome secret access open enter master test testing tester demo temp sample example
  service server system internet computer windows apple google microsoft samsung nokia compaq gateway network security
  secure private online digital company office manager monkey dragon tiger lion eagle falcon hawk bear wolf horse panther
  jaguar cougar leopard elephant dolphin shark whale turtle rabbit kitten kitty puppy doggie chicken donkey penguin
  butterfly spider scorpion snake cobra viper lizard phoenix unicorn bulldog bulldogs wildcat wildcats tomcat bigdog
  football baseball basketball softball soccer hockey tennis golf golfer cricket rugby lacrosse racing fishing hunter
  runner surfer skater player winner champion coach steelers cowboys yankees lakers eagles packers raiders redskins
  broncos dolphins patriots panthers giants rangers redsox chelsea arsenal liverpool barcelona juventus everton manutd
  madrid united michael jennifer jessica jordan michelle daniel ashley andrew joshua matthew nicole amanda charlie robert
  thomas william anthony justin patrick richard samantha jackson melissa joseph hannah brandon johnny edward charles
  rachel christian christopher christina steven victoria natasha jasmine james lauren angela madison shannon sophie david
  danielle jonathan jackie carlos dennis cameron nathan john sandra victor nicholas alexander alexandra alexandre alexis
  benjamin jason calvin monica debbie tiffany jeremy albert samuel sabrina caroline barbara brian stephen stephanie
  gregory pamela stanley courtney kevin patricia teresa melanie anderson vincent elizabeth veronica olivia natalie andrea
  allison marshall adrian antonio claudia francis brittany russell mitchell timothy sarah kimberly sharon kristina george
  gabriel gabriela isabella valentina emily maria anna daniela carolina fernando ricardo roberto eduardo miguel manuel
  alejandro sebastian fatima mohamed mohammed ahmed ali hassan vladimir sergey dmitry natalia tatiana oksana svetlana
  superman batman spiderman ironman starwars startrek stargate pokemon pikachu naruto minecraft warcraft fortnite
  playstation nintendo xbox gandalf merlin matrix avatar simpsons garfield snoopy mickey tweety goofy tigger scooby
  hellokitty barbie cinderella godzilla zombie vampire monster killer slayer wizard knight warrior ninja samurai pirate
  viking soldier marine marines ranger sniper gunner hitman assassin mustang camaro corvette ferrari porsche mercedes
  toyota honda nissan yamaha kawasaki suzuki ducati harley chevy chevelle ford sunshine moonlight rainbow thunder
  lightning shadow midnight darkness fire water ice earth wind storm summer winter spring autumn monday tuesday wednesday
  thursday friday saturday sunday january february march april may june july august september october november december
  princess prince queen king angel angels devil diablo heaven hell jesus christ god buddha trinity blessed faith hope love
  lovely lover lovers loveme loveyou iloveyou iloveu loveu babygirl baby sweet sweety sweetheart honey beautiful cutie
  sexy forever always family mother father mama papa mommy daddy brother sister friend friends money lucky happy smile
  freedom liberty justice peace destiny success power energy magic fantasy dream dreams dreamer paradise summer cookie
  chocolate banana orange apples cherry peach peaches peanut pepper ginger cheese butter coffee sugar candy pumpkin
  strawberry blueberry snickers cocacola pepsi budlight guinness silver golden gold diamond crystal platinum copper black
  white red green blue yellow purple pink orange brown london paris berlin chicago boston dallas denver houston newyork
  brooklyn florida texas california carolina colorado montana arizona alaska hawaii america american canada mexico brazil
  england scotland ireland france germany russia pakistan india australia europe africa asia guitar music rock metal
  metallica nirvana slipknot eminem beatles elvis hendrix blink slayer pantera mozart michael dancer singer drummer
  whatever nothing something anything everything trouble hello goodbye please thankyou trustno trustme drowssap bond ncc1701 ncc1701d rush2112 usuckballz semperfi hotdog babygirl cumshot pearljam rolltide predator thumper westside lifehack hardcore electric classic american victory wolfpack peekaboo wanker bollocks blowjob poohbear valentin wolverine swordfish rosebud fireman hotrod popcorn airborne playboy nopass mypass
  school college student teacher doctor police fireman captain general legend hero genius einstein creative infinity
  universe galaxy planet star stars sun moon saturn jupiter mercury venus apollo rocket phantom ghost mystery maverick
  explorer voyager enterprise eclipse genesis gemini taurus scorpio virgo libra aries leo snowball fluffy buddy buster
  bailey maggie molly sammy rocky max lucky oscar charlie sparky smokey shadow bandit lady bubba bubbles muffin cupcake
  pookie honeybun fuck fucker fucking fuckyou fuckoff fuckme shit bitch asshole bastard bullshit pussy dick porn sex
  boobs biteme blowme suckit jackass butthead stupid crazy cool awesome super mega ultra big little the my our your i is
  am are me you we he she it and one two a new old best first last good bad hot cold man men boy boys girl girls woman
  marlboro mountain 4815162342 12qwaszx redwings lasvegas michigan spitfire maryjane scarface cherokee passport franklin
  motorola virginia cardinal wings swimming blackjack sweetpea hercules atlantis christmas valentine skateboard dinosaur
  gangster tottenham highland warhammer everquest gameover firebird clifford trumpet catfish hurricane wrestling bluebird
  buttercup sapphire budweiser heineken celtics blackberry motorcycle engineer kristine margaret francesca lawrence
  jeffrey terminator redhead greenday rockstar zeppelin highlander montecarlo chemistry nightmare wonderland volcom
  quicksilver thuglife gangsta bluemoon bullfrog catwoman crusader excalibur hollywood jellybean kangaroo leonardo
  lionking macintosh magician manchester mermaid milkshake newcastle octopus peterpan pinkfloyd precious rammstein
  robinson sandiego shamrock skywalker southpark spartans stallion stingray sundance supernova telephone titanium
  tombraider topsecret transformers treasure triangle trombone vacation vanhalen volleyball waterloo waterfall westham
  westlife wildfire wrangler catalina charlotte cristina giovanni katherine catherine kathleen stefania theresa virginie
  azerty soleil doudou bonjour amour hallo schatz ficken arschloch hejsan hola tequiero teamo mierda flamengo
  vendor verification verify supplier`
    .split(/\s+/)
    .filter((word) => word !== ""),
);
