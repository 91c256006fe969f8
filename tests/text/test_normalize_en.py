"""How English is read aloud: written form on the left, spoken form on the right."""

import re
import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.examples import examples
from helpers.linear_time import grows_linearly
from helpers.tables import each_row
from polyvox.text.normalize import normalizer_for
from polyvox.text.normalize.en import normalize
from polyvox.text.normalize.english.numbers import LONGEST_CARDINAL, SCALES, cardinal, ordinal, year
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions


def spoken(text: str, **options: bool) -> str:
    return normalize(TrackedText.of(text), NormalizationOptions(**options)).text


CARDINALS = {
    "0": "zero",
    "7": "seven",
    "13 cats": "thirteen cats",
    "21 guns": "twenty one guns",
    "100 men": "one hundred men",
    "105 men": "one hundred five men",
    "999 steps": "nine hundred ninety nine steps",
    "1,000 nights": "one thousand nights",
    "1,001 nights": "one thousand one nights",
    "1,00,000": "one hundred thousand",
    "12,345": "twelve thousand three hundred forty five",
    "1,000,000": "one million",
    "7,654,321 souls": "seven million six hundred fifty four thousand three hundred twenty one souls",
    "2,500,000,000": "two billion five hundred million",
    "1,000,000,000,000": "one trillion",
    "5,000,000,000,000,000": "five quadrillion",
    "1,000,000,000,000,000,000": "one quintillion",
    "350 pages": "three hundred fifty pages",
    "3456 apples": "three thousand four hundred fifty six apples",
    "12345678": "twelve million three hundred forty five thousand six hundred seventy eight",
    "1234567890123456789012": (
        "one two three, four five six, seven eight nine, zero one two, "
        "three four five, six seven eight, nine zero one, two"
    ),
    "0042": "zero zero four two",
    "Agent 007": "Agent double oh seven",
    "3.14": "three point one four",
    "0.5": "zero point five",
    ".25 caliber": "point two five caliber",
    "1,234.56": "one thousand two hundred thirty four point five six",
    "-5": "minus five",
    "It was -12.5 outside.": "It was minus twelve point five outside.",
    "−3": "minus three",
    "I have 2 dogs, 3 cats.": "I have two dogs, three cats.",
    "1, 2, 3": "one, two, three",
    "1,2,3": "one,two,three",
    "Section 2.": "Section two.",
    "20k followers": "twenty thousand followers",
    "5M users": "five million users",
    "1.5M users": "one point five million users",
    "2.5B people": "two point five billion people",
    "3bn": "three billion",
    "10 million": "ten million",
}

ORDINALS = {
    "1st": "first",
    "2nd": "second",
    "3rd": "third",
    "4th": "fourth",
    "5th": "fifth",
    "8th": "eighth",
    "9th": "ninth",
    "12th": "twelfth",
    "20th": "twentieth",
    "21st century": "twenty first century",
    "42nd Street": "forty second Street",
    "100th": "one hundredth",
    "101st": "one hundred first",
    "1,000th": "one thousandth",
    "the 19TH hole": "the nineteenth hole",
}

YEARS = {
    "in 1905": "in nineteen oh five",
    "in 2007": "in two thousand seven",
    "In 1900, he": "In nineteen hundred, he",
    "since 2000": "since two thousand",
    "by 2010": "by twenty ten",
    "the year 2026.": "the year twenty twenty six.",
    "in 1066": "in ten sixty six",
    "1984": "nineteen eighty four",
    "the 1980s": "the nineteen eighties",
    "the 1900s": "the nineteen hundreds",
    "the 2000s": "the two thousands",
    "the 2010s": "the twenty tens",
    "the 1980's": "the nineteen eighties",
    "mid-1990s": "mid nineteen nineties",
    "the '90s": "the nineties",
    "the ’60s": "the sixties",
    "since ’99.": "since ninety nine.",
    "in the 80s": "in the eighties",
    "her 30s": "her thirties",
    "Summer of '69": "Summer of sixty nine",
    "class of '05": "class of oh five",
    "300 BC": "three hundred BC",
    "44 B.C. was": "forty four BC was",
    "1200 BCE": "twelve hundred BCE",
    "AD 79": "AD seventy nine",
    "1990–95": "nineteen ninety to ninety five",
    "1990-1995": "nineteen ninety to nineteen ninety five",
    "2019-20 season": "twenty nineteen to twenty season",
    "(1564–1616)": "(fifteen sixty four to sixteen sixteen)",
    "1500 people came": "fifteen hundred people came",
    "1250 people came": "one thousand two hundred fifty people came",
    "2048 bytes": "two thousand forty eight bytes",
    "In 1905 tensions rose": "In nineteen oh five tensions rose",
    "in 2024/25": "in twenty twenty four twenty five",
    "2026's best": "twenty twenty six's best",
}

FRACTIONS_AND_RANGES = {
    "1/2": "one half",
    "1/3 of it": "one third of it",
    "3/4": "three quarters",
    "2/3 cup": "two thirds cup",
    "5/8": "five eighths",
    "7/100": "seven hundredths",
    "22/7": "twenty two over seven",
    "3 3/4": "three and three quarters",
    "1 1/2 cups": "one and a half cups",
    "½": "one half",
    "2½ years": "two and a half years",
    "¾ full": "three quarters full",
    "I'd give it 7/10": "I'd give it seven out of ten",
    "24/7": "twenty four seven",
    "9/11": "nine eleven",
    "50/50": "fifty fifty",
    "10-15": "ten to fifteen",
    "10–15 minutes": "ten to fifteen minutes",
    "pages 10—15": "pages ten to fifteen",
    "won 3-2": "won three to two",
    "a 3-0 win": "a three to zero win",
    "a 50-50 chance": "a fifty fifty chance",
    "1.5-2.5": "one point five to two point five",
    "ratio 16:9": "ratio sixteen to nine",
    "a 10:1 ratio": "a ten to one ratio",
    "1-2-3": "one two three",
}

PERCENT = {
    "5%": "five percent",
    "5 %": "five percent",
    "3.5%": "three point five percent",
    "-2%": "minus two percent",
    "10-15%": "ten to fifteen percent",
    "10%–15%": "ten to fifteen percent",
    "100% sure": "one hundred percent sure",
    "5‰": "five per mille",
}

MONEY = {
    "$5": "five dollars",
    "$1": "one dollar",
    "$5.25": "five dollars and twenty five cents",
    "$1.01": "one dollar and one cent",
    "$5.00": "five dollars",
    "$0.99": "ninety nine cents",
    "$0.01": "one cent",
    "$1,234.50": "one thousand two hundred thirty four dollars and fifty cents",
    "$1.2 billion": "one point two billion dollars",
    "$1.5m": "one point five million dollars",
    "£1.5m": "one point five million pounds",
    "€20k": "twenty thousand euros",
    "$3bn": "three billion dollars",
    "$2T": "two trillion dollars",
    "$20 million": "twenty million dollars",
    "a $20 million deal": "a twenty million dollar deal",
    "a $5 bill": "a five dollar bill",
    "a $5 and a": "a five dollars and a",
    "$10-$15": "ten to fifteen dollars",
    "$10-15": "ten to fifteen dollars",
    "$10–15 million": "ten to fifteen million dollars",
    "-$5": "minus five dollars",
    "$5/month": "five dollars per month",
    "£1": "one pound",
    "£1.50": "one pound and fifty pence",
    "£0.01": "one penny",
    "€999,00": "nine hundred ninety nine euros",
    "1.234,50 €": "one thousand two hundred thirty four euros and fifty cents",
    "3/$10": "three for ten dollars",
    "Rs. 500": "five hundred rupees",
    "€1.50": "one euro and fifty cents",
    "20€": "twenty euros",
    "20 €": "twenty euros",
    "¥500": "five hundred yen",
    "₹100": "one hundred rupees",
    "US$5": "five US dollars",
    "A$10": "ten Australian dollars",
    "USD 30": "thirty US dollars",
    "30 USD": "thirty US dollars",
    "EUR 20": "twenty euros",
    "50¢": "fifty cents",
    "$.00": "zero dollars",
    "1¢": "one cent",
    "$1.2345": "one point two three four five dollars",
    "It cost $5.": "It cost five dollars.",
    "$5M-$10M": "five to ten million dollars",
    "$500K-$1M": "five hundred thousand to one million dollars",
    "$5/1M tokens": "five dollars per one million tokens",
    "$5, $6, and $7": "five dollars, six dollars, and seven dollars",
    "$100-per-night": "one hundred dollar-per-night",
}

DATES = {
    "2026-11-15": "November fifteenth, twenty twenty six",
    "2026-11-15T14:30:00Z": "November fifteenth, twenty twenty six at fourteen thirty UTC",
    "11/15/2026": "November fifteenth, twenty twenty six",
    "15/11/2026": "November fifteenth, twenty twenty six",
    "3/4/2026": "March fourth, twenty twenty six",
    "1/2/99": "January second, nineteen ninety nine",
    "15.11.2026": "November fifteenth, twenty twenty six",
    "on 12/25": "on December twenty fifth",
    "closed 6/11 to 7/10": "closed June eleventh to July tenth",
    "from 2/3 to 3/4 of it": "from two thirds to three quarters of it",
    "from 7/10 to 9/10": "from seven out of ten to nine out of ten",
    "back 1/4, not 12/23": "back January fourth, not December twenty third",
    "until ~10/20": "until about October twentieth",
    "splits 7:02/6:58": "splits seven oh two, six fifty eight",
    "Nov 15, 2026": "November fifteenth, twenty twenty six",
    "Nov. 15, 2026,": "November fifteenth, twenty twenty six,",
    "November 15": "November fifteenth",
    "November 15th": "November fifteenth",
    "15 November": "the fifteenth of November",
    "15th of November 2026": "the fifteenth of November, twenty twenty six",
    "the 15th of November": "the fifteenth of November",
    "15 Nov. 2026": "the fifteenth of November, twenty twenty six",
    "July 4, 1776": "July fourth, seventeen seventy six",
    "May 5": "May fifth",
    "you may 5 times": "you may five times",
    "March 3-5": "March third to fifth",
    "10–15 November": "the tenth to the fifteenth of November",
    "Nov 2026": "November twenty twenty six",
    "September 1939": "September nineteen thirty nine",
    "in Sept. he": "in September he",
    "I met Jan. She": "I met Jan. She",
    "Mon., Nov. 3": "Monday, November third",
    "Mon-Fri": "Monday to Friday",
    "Jan–Mar": "January to March",
    "See you Wed. at noon": "See you Wednesday at noon",
    "The Sun. It": "The Sun. It",
    "Sat 5 May": "Saturday the fifth of May",
    "Q3 2026": "Q three twenty twenty six",
    "13/13/2026": "thirteen thirteen twenty twenty six",
}

TIMES = {
    "3:05 pm": "three oh five P.M",
    "3:05pm": "three oh five P.M",
    "3:05 p.m.": "three oh five P.M.",
    "at 3:05 p.m. today": "at three oh five P.M today",
    "at 5 p.m. He left": "at five P.M. He left",
    "at 5 p.m. Tuesday": "at five P.M Tuesday",
    "9am": "nine A.M",
    "9 a.m. sharp": "nine A.M sharp",
    "12 PM": "twelve P.M",
    "14:30": "fourteen thirty",
    "12:00": "twelve o'clock",
    "3:00": "three o'clock",
    "3:00 pm": "three P.M",
    "14:00": "fourteen hundred",
    "00:00": "midnight",
    "00:15": "twelve fifteen A.M",
    "08:05": "eight oh five",
    "12:00 noon": "twelve noon",
    "5 o'clock": "five o'clock",
    "5 o’clock": "five o'clock",
    "9-5pm": "nine to five P.M",
    "9am-5pm": "nine A.M to five P.M",
    "9:30–10:45": "nine thirty to ten forty five",
    "7:15:30": "seven fifteen and thirty seconds",
    "0600 hours": "oh six hundred hours",
    "John 3:16": "John three sixteen",
    "25:99": "twenty five to ninety nine",
    "10:30-4": "ten thirty to four",
    "at 0730": "at oh seven thirty",
    "7.30pm": "seven thirty P.M",
    "Psalm 23:4": "Psalm twenty three four",
    "Matthew 5:3-12": "Matthew five three to twelve",
    "10:30 EST": "ten thirty EST",
}

PHONES = {
    "555-123-4567": "five five five, one two three, four five six seven",
    "(555) 123-4567": "five five five, one two three, four five six seven",
    "555.123.4567": "five five five, one two three, four five six seven",
    "1-800-555-1234": "one, eight hundred, five five five, one two three four",
    "+1 555 123 4567": "plus one, five five five, one two three, four five six seven",
    "555-1234": "five five five, one two three four",
    "+44 20 7946 0958": "plus four four, two zero, seven nine four six, zero nine five eight",
    "4111 1111 1111 1111": "four one one one, one one one one, one one one one, one one one one",
    "call 911": "call nine one one",
    "ext. 42": "extension forty two",
    "extension 4321": "extension four three two one",
}

UNITS = {
    "5km": "five kilometers",
    "5 km": "five kilometers",
    "1 km": "one kilometer",
    "1.0 km": "one point zero kilometers",
    "10 kg": "ten kilograms",
    "60mph": "sixty miles per hour",
    "1 mph": "one mile per hour",
    "72°F": "seventy two degrees Fahrenheit",
    "-5°C": "minus five degrees Celsius",
    "20–25 °C": "twenty to twenty five degrees Celsius",
    "20℃": "twenty degrees Celsius",
    "a 90° turn": "a ninety degree turn",
    "1°": "one degree",
    "5'10\"": "five foot ten",
    "5’10”": "five foot ten",
    "6′2″": "six foot two",
    'a 10" pizza': "a ten inch pizza",
    'He said "I am 10".': 'He said "I am ten".',
    "16GB": "sixteen gigabytes",
    "a 16GB stick": "a sixteen gigabyte stick",
    "3.5GHz": "three point five gigahertz",
    "100 m²": "one hundred square meters",
    "5 m2": "five square meters",
    "120㎡": "one hundred twenty square meters",
    "5㎏": "five kilograms",
    "3 m^3": "three cubic meters",
    "100 km/h": "one hundred kilometers per hour",
    "9.8 m/s²": "nine point eight meters per second squared",
    "5 mg/dL": "five milligrams per deciliter",
    "1 g/cm³": "one gram per cubic centimeter",
    "100 MB/s": "one hundred megabytes per second",
    "50 Mbps": "fifty megabits per second",
    "5 ft 4 in tall": "five foot four tall",
    "3.4m people": "three point four million people",
    "5-10 km": "five to ten kilometers",
    "a 5 km run": "a five kilometer run",
    "5-km run": "five kilometer run",
    "6 ft": "six feet",
    "6' tall": "six feet tall",
    "6-ft fence": "six foot fence",
    "6 ft. tall": "six feet tall",
    "5 lbs": "five pounds",
    "1 lb": "one pound",
    "1/2 lb": "half a pound",
    "3/4 in. wide": "three quarters of an inch wide",
    "1 1/2 oz": "one and a half ounces",
    "2 tbsp": "two tablespoons",
    "500 ml": "five hundred milliliters",
    "24 h": "twenty four hours",
    "30 min.": "thirty minutes.",
    "30s timeout": "thirty seconds timeout",
    "200 sq ft": "two hundred square feet",
    "(540 sq. ft.)": "(five hundred forty square feet)",
    "1/4 tsp salt": "one quarter teaspoon salt",
    "12 fl. oz.": "twelve fluid ounces.",
    "1.5 million km": "one point five million kilometers",
    "5 in the morning": "five in the morning",
    "5 in. wide": "five inches wide",
    "220V": "two hundred twenty volts",
    "60 W": "sixty watts",
    "5000mAh": "five thousand milliamp hours",
    "3 kWh": "three kilowatt hours",
    "40 dB": "forty decibels",
    "10 µm": "ten micrometers",
    "10 μm": "ten micrometers",
    "5 miles": "five miles",
    "60 frames/second": "sixty frames per second",
    "40°26′46″N": "forty degrees twenty six minutes forty six seconds north",
    "12 pt": "twelve points",
    "5 x 7": "five by seven",
    "1920x1080": "nineteen twenty by ten eighty",
    "2x faster": "two times faster",
    "a 2x increase": "a two X increase",
}

ABBREVIATIONS = {
    "Dr. Smith": "Doctor Smith",
    "Dr Smith": "Doctor Smith",
    "Mulholland Dr. is": "Mulholland Drive is",
    "Mr. and Mrs. Jones": "Mister and Missus Jones",
    "Mr Jones": "Mister Jones",
    "Ms. Lee": "Miz Lee",
    "Prof. Xu": "Professor Xu",
    "St. Louis": "Saint Louis",
    "Main St.": "Main Street.",
    "Main St. and Elm": "Main Street and Elm",
    "on Main St. The end": "on Main Street. The end",
    "St. John's": "Saint John's",
    "5th Ave.": "fifth Avenue.",
    "cats vs. dogs": "cats versus dogs",
    "cats vs dogs": "cats versus dogs",
    "eggs, milk, etc.": "eggs, milk, etc.",
    "etc. and so on": "etc and so on",
    "e.g. cats": "for example cats",
    "(e.g., cats)": "(for example, cats)",
    "i.e. now": "that is now",
    "No. 5": "number five",
    "No. It isn't": "No. It isn't",
    "Nos. 5 and 6": "numbers five and six",
    "p. 5": "page five",
    "pp. 5–6": "pages five to six",
    "Vol. 2, Ch. 3": "Volume two, Chapter three",
    "Apt. 3B": "Apartment three B",
    "Rm. 204": "Room two oh four",
    "Fig. 3": "Figure three",
    "Acme Inc.": "Acme Incorporated.",
    "Acme Inc. was": "Acme Incorporated was",
    "Acme Inc. The": "Acme Incorporated. The",
    "Smith & Co. Ltd.": "Smith and Company Limited.",
    "approx. 5": "approximately five",
    "John Smith Jr.": "John Smith Junior.",
    "the U.S. Army": "the U.S Army",
    "in the U.S. The": "in the U.S. The",
    "U.S.A.": "USA.",
    "a Ph.D. in": "a PHD in",
    "J. R. R. Tolkien": "JRR Tolkien",
    "J.R.R. Tolkien": "JRR Tolkien",
    "A. A. Milne": "A.A Milne",
    "George W. Bush": "George W Bush",
    "vitamin C. Apples": "vitamin C. Apples",
    "Plan B. The": "Plan B. The",
    "Gen. Lee": "General Lee",
    "Roe v. Wade": "Roe versus Wade",
    "42nd St. NYC": "forty second Street NYC",
    "Lt. Col. Sanders": "Lieutenant Colonel Sanders",
    "Mt. Everest": "Mount Everest",
    "Ft. Worth": "Fort Worth",
    "c. 1850": "circa eighteen fifty",
    "a.k.a. Bob": "also known as Bob",
    "Smith et al. found": "Smith et al found",
    "w/milk": "with milk",
    "w/ milk": "with milk",
    "w/o milk": "without milk",
    "and/or": "and or",
    "N/A": "not applicable",
}

ROMAN = {
    "Henry VIII": "Henry the eighth",
    "Elizabeth II's": "Elizabeth the second's",
    "Pope John Paul II": "Pope John Paul the second",
    "King Charles I": "King Charles the first",
    "Charles I of England": "Charles the first of England",
    "I told Charles I was": "I told Charles I was",
    "World War II": "World War two",
    "World War I": "World War one",
    "Chapter IV": "Chapter four",
    "Chapter IV.": "Chapter four.",
    "Part V": "Part five",
    "Act III, Scene ii": "Act three, Scene two",
    "Super Bowl XLII": "Super Bowl forty two",
    "Rocky IV": "Rocky four",
    "the XIX century": "the nineteenth century",
    "Malcolm X": "Malcolm X",
    "I am. I think": "I am. I think",
    "a CD and a MIX": "a CD and a MIX",
}

CODES = {
    "B2B": "B two B",
    "MP3": "MP three",
    "mp3": "MP three",
    "COVID-19": "COVID nineteen",
    "4K": "four K",
    "H2O": "H two O",
    "CO₂": "C.O two",
    "3D": "three D",
    "5G": "five G",
    "R2-D2": "R two-D two",
    "GPT-4": "GPT four",
    "GPT-4o": "GPT four O",
    "F-16s": "F sixteens",
    "A320": "A three twenty",
    "T-1000": "T one thousand",
    "Boeing 747": "Boeing seven forty seven",
    "Room 101": "Room one oh one",
    "221B Baker": "two twenty one B Baker",
    "1080p": "ten eighty P",
    "k8s": "K eight S",
    "i18n": "I eighteen N",
    "x86": "X eighty six",
    "iPhone15": "iPhone fifteen",
    "v2.1.3": "version two point one point three",
    "v2": "version two",
    "a V8": "a V eight",
    "1e-5": "one times ten to the minus five",
    "Fahrenheit 451": "Fahrenheit four fifty one",
    "my 401(k)": "my four oh one K",
    "HTTP 404": "HTTP four oh four",
    "a 10k.": "a ten K.",
    "version 3.11": "version three point eleven",
    "10.15.7": "ten point fifteen point seven",
    "192.168.1.1": "one nine two dot one six eight dot one dot one",
    "5-year-old": "five-year-old",
    "top-10": "top ten",
    "CA 90210": "CA nine zero two one zero",
    "123-45-6789": "one two three, four five, six seven eight nine",
    "I-95": "I ninety five",
    "NASA": "NASA",
    "FBI": "FBI",
}

WEB = {
    "https://example.com/path?x=1": "example dot com slash path question mark X equals one",
    "https://example.com/": "example dot com",
    "www.example.org": "W W W dot example dot org",
    "example.com": "example dot com",
    "Visit example.com.": "Visit example dot com.",
    "(see https://example.com)": "(see example dot com)",
    "https://en.wikipedia.org/wiki/Foo_(bar)": "en dot wikipedia dot org slash wiki slash Foo underscore bar",
    "bbc.co.uk": "BBC dot co dot UK",
    "huggingface.co/models": "huggingface dot co slash models",
    "openai.ai": "openai dot AI",
    "http://localhost:8880/v1": "localhost colon eighty eight eighty slash V one",
    "me@example.com": "me at example dot com",
    "john.doe+spam@mail.co.uk,": "john dot doe plus spam at mail dot co dot UK,",
    "first_last99@x.io": "first underscore last ninety nine at X dot IO",
    "@john_doe": "at john doe",
    "#ThrowbackThursday": "hashtag Throwback Thursday",
    "#BLM2020": "hashtag BLM twenty twenty",
    "#1": "number one",
    "report.pdf": "report dot PDF",
    "main.py": "main dot py",
    "index.html": "index dot HTML",
    "/usr/local/bin": "slash USR slash local slash bin",
    "Node.js": "Node dot JS",
}

SYMBOLS = {
    "5 + 3 = 8": "five plus three equals eight",
    "5+3=8": "five plus three equals eight",
    "10 - 4 = 6": "ten minus four equals six",
    "3 × 4": "three times four",
    "3 * 4": "three times four",
    "8 ÷ 2": "eight divided by two",
    "8 / 2": "eight divided by two",
    "±5": "plus or minus five",
    "~5 minutes": "about five minutes",
    "≈ 5": "approximately five",
    "x < 5": "x less than five",
    "x > y": "x greater than y",
    "x >= 5": "x greater than or equal to five",
    "x ≤ 5": "x less than or equal to five",
    "a − b": "a minus b",
    "x²": "x squared",
    "x^2 + y^3": "x squared plus y cubed",
    "10^6": "ten to the sixth",
    "10⁻³": "ten to the minus three",
    "R&D": "R and D",
    "AT&T": "A.T and T",
    "salt & pepper": "salt and pepper",
    "C#": "C sharp",
    "C++": "C plus plus",
    "meet @ noon": "meet at noon",
    "A → B": "A to B",
    "A -> B": "A to B",
    "E = mc²": "E equals M.C squared",
    "~25%": "about twenty five percent",
    "<$5": "less than five dollars",
    "98.6 / 100": "ninety eight point six out of one hundred",
    "2π": "two pi",
    "α particle": "alpha particle",
    "√2": "square root of two",
    "© 2026": "copyright twenty twenty six",
    "Acme™ and Foo®": "Acme and Foo",
    "§ 5": "section five",
    "snake_case": "snake case",
    "fill in ____ here": "fill in blank here",
    "he/she": "he she",
    "18+": "eighteen plus",
    "hello 😀 world": "hello world",
    "❤️": "",
    "word¹ next": "word next",
    "f***": "f",
    "dog(s)": "dogs",
    "box(es)": "boxes",
}

PUNCTUATION = {
    "Wow!!!": "Wow!",
    "What???": "What?",
    "What?!?!": "What?!",
    "Well...": "Well…",
    "Well. . . no": "Well… no",
    "Hmm…": "Hmm…",
    "yes -- no": "yes — no",
    "yes - no": "yes — no",
    "yes – no": "yes — no",
    "yes—no": "yes—no",
    "well-known": "well-known",
    "[sic]": "(sic)",
    "{x}": "(x)",
    "«bon»": "“bon”",
    "„gut“": "“gut“",
    "‘Hello,’ he said.": "“Hello,” he said.",
    "'Hello,' he said.": "“Hello,” he said.",
    "‘It’s the dogs’ fault.’": "“It's the dogs' fault.”",
    "don’t": "don't",
    "the dogs' bowl": "the dogs' bowl",
    "rock 'n' roll": "rock 'n' roll",
    "'tis": "'tis",
    "goin' home": "goin' home",
    "a ,b": "a,b",
    "Hello ,  world": "Hello, world",
    "()": "",
    "ｆｕｌｌ １２": "full twelve",
    "𝐁𝐨𝐥𝐝": "Bold",
    "the end.Then": "the end. Then",
    "a\nb": "a\nb",
    "I am here.": "I am here.",
    "Plain words stay plain.": "Plain words stay plain.",
}

TABLES = (
    CARDINALS,
    ORDINALS,
    YEARS,
    FRACTIONS_AND_RANGES,
    PERCENT,
    MONEY,
    DATES,
    TIMES,
    PHONES,
    UNITS,
    ABBREVIATIONS,
    ROMAN,
    CODES,
    WEB,
    SYMBOLS,
    PUNCTUATION,
)
CASES = [case for table in TABLES for case in table.items()]


@pytest.mark.long
@each_row(("written", "heard"), CASES)
def test_reads(written: str, heard: str) -> None:
    assert spoken(written) == heard


def test_there_are_many_readings() -> None:
    assert len(CASES) >= 250


def test_reads_a_paragraph_as_a_narrator_would() -> None:
    written = (
        "Dr. J. A. Smith-Jones, Ph.D., paid $5.25 for 3 3/4 lbs of flour on Tue., Nov. 3, 2026 at 9:30 a.m. in "
        "Rm. 204 (see p. 12). The S&P 500 fell 0.3%, i.e. 12.3 points… “That’s it?” she asked -- 'twas the '80s!"
    )
    assert spoken(written) == (
        "Doctor J.A Smith-Jones, PHD, paid five dollars and twenty five cents for three and three quarters pounds of "
        "flour on Tuesday, November third, twenty twenty six at nine thirty A.M in Room two oh four (see page twelve). "
        "The S and P five hundred fell zero point three percent, that is twelve point three points… “That's it?” she "
        "asked — 'twas the eighties!"
    )


@each_row(
    ("option", "written", "heard"),
    [
        ("unit_normalization", "5km", "five KM"),
        ("url_normalization", "at example.com", "at example dot com"),
        ("url_normalization", "www.x.org/a-b", "WWW dot X dot org a-b"),
        ("email_normalization", "me@home.org", "me at home dot org"),
        ("email_normalization", "a_b@home.org", "A B at home dot org"),
        ("optional_pluralization_normalization", "dog(s)", "dog(s)"),
        ("phone_normalization", "555-1234", "five hundred fifty five to one thousand two hundred thirty four"),
        ("replace_remaining_symbols", "a & b", "a & b"),
        ("normalize", "Dr. No paid $5 at 3:05…\u200b 😀\x07", "Dr. No paid $5 at 3:05…  "),
    ],
)
def test_each_option_switches_its_part(option: str, written: str, heard: str) -> None:
    assert spoken(written, **{option: False}) == heard


@each_row("language", ["en", "en-us", "en_US"])
def test_english_has_its_own_normaliser(language: str) -> None:
    assert normalizer_for(language) is normalize


@each_row(
    ("written", "heard"),
    [
        ("It costs £105.", "It costs one hundred and five pounds."),
        ("There were 2,001 of them.", "There were two thousand and one of them."),
        (
            "That makes 1,234,567.",
            "That makes one million two hundred and thirty four thousand five hundred and sixty seven.",
        ),
        ("On 3/4/2024 we met.", "On April third, twenty twenty four we met."),
        ("Due 25/12.", "Due December twenty fifth."),
        ("A hundred one-time offers.", "A hundred one-time offers."),
    ],
)
def test_the_british_say_and_and_put_the_day_first(written: str, heard: str) -> None:
    for tag in ("en-gb", "en_GB", "en-AU"):
        assert normalizer_for(tag)(TrackedText.of(written), NormalizationOptions()).text == heard


@each_row(
    ("written", "heard"),
    [
        ("Ça coûte 5 € — « vraiment » !", "Ça coûte 5 € — “vraiment”!"),
        ("¿Qué tal? ¡Bien!", "Qué tal? Bien!"),
        ("l’eau... [sic] 😀", "l'eau… (sic)"),
        ("यह अच्छा है। ठीक।", "यह अच्छा है. ठीक."),
        ("今日は。元気？", "今日は. 元気?"),
        ("-5 °C", "-5 °C"),
    ],
)
def test_other_languages_keep_their_numbers(written: str, heard: str) -> None:
    assert normalizer_for("nl")(TrackedText.of(written), NormalizationOptions()).text == heard


BELOW_THOUSAND = {cardinal(str(small)): small for small in range(1000)}
SMALL = "zero one two three four five six seven eight nine".split()


@given(st.integers(0, 10**LONGEST_CARDINAL - 1))
@settings(deadline=None)
def test_a_number_is_read_from_its_thousands(value: int) -> None:
    """What a listener writes down again is the number."""
    total, group = 0, ""
    for word in cardinal(str(value)).split():
        if word in SCALES[1:]:
            total, group = total + BELOW_THOUSAND[group.strip()] * 1000 ** SCALES.index(word), ""
        else:
            group += f" {word}"
    assert total + BELOW_THOUSAND.get(group.strip(), 0) == value


def test_no_two_numbers_sound_alike() -> None:
    assert len(BELOW_THOUSAND) == 1000


@given(st.integers(1100, 2099))
@settings(deadline=None)
def test_years_are_short(value: int) -> None:
    assert len(year(value).split()) <= 4


@given(st.integers(0, 10**6))
@settings(deadline=None)
def test_ordinals_end_as_ordinals_do(value: int) -> None:
    assert ordinal(str(value)).endswith(("th", "first", "second", "third"))


@given(st.text("0123456789", min_size=LONGEST_CARDINAL + 1, max_size=60))
@settings(deadline=None)
def test_endless_figures_are_read_digit_by_digit(digits: str) -> None:
    assert [SMALL.index(word.strip(",")) for word in cardinal(digits).split()] == [int(digit) for digit in digits]


PIECES = [
    *"0123456789", *" .,-–—/:;'’“”\"()[]{}#@&*_`~^+=<>|\\%$€£°½²\n", "km", "am", "p.m.", "Dr.", "St. ", "No. ", "Jan ",
    "I", "V", "II", "the ", "in ", "http://", "www.", ".com", "st", "th", "s", "x", "k", "million", "a", "B", "é", "中",
    "😀", "\u200b", "\x00", "\ue000", "①", "٣",
]  # fmt: skip
anything = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=30).map("".join))


@pytest.mark.long
@given(anything)
@examples(200)
def test_any_text_becomes_speakable(raw: str) -> None:
    result = normalize(TrackedText.of(raw), NormalizationOptions())
    assert not any(char.isdigit() for char in result.text)
    assert not any(unicodedata.category(char) in ("Cc", "Cf", "Cs") for char in result.text.replace("\n", ""))
    marks = {
        char for char in result.text if not char.isalnum() and unicodedata.category(char) not in ("Mn", "Mc", "Co")
    }
    assert marks <= set(" \n'-;:,.!?—…\"()“”")
    assert "  " not in result.text


@given(anything)
@examples(200)
def test_spans_stay_inside_the_text_and_in_order(raw: str) -> None:
    result = normalize(TrackedText.of(raw), NormalizationOptions())
    assert len(result.starts) == len(result.ends) == len(result.text)
    assert all(0 <= start < end <= len(raw) for start, end in zip(result.starts, result.ends, strict=True))
    assert list(result.starts) == sorted(result.starts)
    assert list(result.ends) == sorted(result.ends)


@given(anything)
@examples(200)
def test_no_word_is_dropped(raw: str) -> None:
    result = normalize(TrackedText.of(raw), NormalizationOptions())
    covered = {at for start, end in zip(result.starts, result.ends, strict=True) for at in range(start, end)}
    for word in re.finditer("[A-Za-z]+", raw):
        assert covered.intersection(range(*word.span()))


@pytest.mark.long
@given(st.lists(st.from_regex(r"[a-z]{4,12}", fullmatch=True), min_size=1).map(" ".join))
@settings(deadline=None)
def test_plain_words_stay(words: str) -> None:
    assert spoken(words) == words


@given(anything)
@settings(deadline=None)
def test_the_plain_reading_touches_only_what_cannot_be_spoken(raw: str) -> None:
    result = normalize(TrackedText.of(raw), NormalizationOptions(normalize=False))
    kept = [char for char in raw if char.isalnum()]
    assert [char for char in result.text if char.isalnum()] == kept


def test_a_word_points_at_what_was_written() -> None:
    raw = "He paid $5 today."
    result = normalize(TrackedText.of(raw), NormalizationOptions())
    at = result.text.index("dollars")
    span = result.span(at, at + len("dollars"))
    assert raw[span.start : span.end] == "$5"
    at = result.text.index("today")
    assert raw[result.starts[at] : result.ends[at + 4]] == "today"


def seconds(raw: str) -> float:
    text = TrackedText.of(raw)
    start = time.thread_time()
    normalize(text, NormalizationOptions())
    return time.thread_time() - start


def seconds_of_a_million_additions() -> float:
    start, total = time.thread_time(), 0
    for number in range(1_000_000):
        total += number
    assert total
    return time.thread_time() - start


HOSTILE = [
    "1", "1,", "1,111,", "1.", "1-", "1/", "1:", "$1", "+1 ", "v1.", "a.", "A. ", "[", "(", "](", "@", "a@", "#", "'",
    "-", "- ", "...", "…. ", "www.", "http://", "1 1/2", "x^", " ", "\n", "é", "1x", "Mon-", "Jan 1 ", "a-", "_",
    "~", "A.", "<", "[a](/", "|", "’", "1-800-AB-", "Mon, ", "NaCl2", "page xi-", "ii. \n", "1h 3", "$1/hr", "12 x ",
    "Ford II ", "localhost:1/", "Python 3.11 or ", "a/", "/a.", "a_", "aB", "ab.", "12 ", "12-", "A1", "A1-",
    "'a ", "'11 a ", "100 N ", "100 Main ", "Austin, TX ", "N ", "code for a ", "f(", "Ca²", "O(n", "1%/", "a - ",
    "a = -", "A > ", "a/s", "802.11", "by 1 bps ", "card end ", "3x/",
]  # fmt: skip


@pytest.mark.long
@each_row("piece", HOSTILE)
def test_time_grows_with_the_length_alone(piece: str) -> None:
    short, long = piece * (3_000 // len(piece)), piece * (6_000 // len(piece))
    assert grows_linearly(seconds, short, long)


@pytest.mark.long
def test_a_long_text_takes_as_long_as_forty_million_additions_at_most() -> None:
    sentence = "In 1905, Dr. Smith paid $5.25 for 3 3/4 lbs of flour; he lived at 123 Main St. in St. Louis. "
    prose = "It was a bright cold day, and the clocks of the town were striking as the old man came home again. "
    taken = seconds((sentence + prose * 4) * 200)
    assert taken < 40 * seconds_of_a_million_additions()  # a second or less on most machines
