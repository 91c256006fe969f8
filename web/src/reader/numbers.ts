import type { ReaderTables } from './tables';

/** Figures as English words, in the American way: no "and" inside a whole number. */
export class NumberWords {
  constructor(private readonly tables: ReaderTables['numbers']) {}

  /** A figure that is too long for a number, or has leading zeros, is read digit by digit. */
  cardinal(digits: string): string {
    const { ones, scales } = this.tables;
    if (digits.length > 3 * scales.length || (digits.length > 1 && digits.startsWith('0'))) return this.spelled(digits);
    let number = BigInt(digits);
    if (number === 0n) return ones[0]!;
    const groups: string[] = [];
    for (let power = 0; number > 0n; power++, number /= 1000n) {
      const group = Number(number % 1000n);
      if (group) groups.unshift([this.belowThousand(group), scales[power]].filter(Boolean).join(' '));
    }
    return groups.join(' ');
  }

  ordinal(digits: string): string {
    const words = this.cardinal(digits.replace(/^0+(?=\d)/, '')).split(' ');
    const last = words.pop()!;
    const irregular = this.tables.ordinals[last];
    return [...words, irregular ?? (last.endsWith('y') ? `${last.slice(0, -1)}ieth` : `${last}th`)].join(' ');
  }

  /** A year, or any figure read like one: "nineteen oh five", "two thousand seven". */
  year(digits: string): string {
    const [century, rest] = [Number(digits.slice(0, 2)), Number(digits.slice(2))];
    if (century % 10 === 0 && rest < 10) return this.cardinal(digits);
    if (rest === 0) return `${this.belowHundred(century)} hundred`;
    return `${this.belowHundred(century)} ${this.twoDigits(rest)}`;
  }

  /** "oh five", "ninety five". */
  twoDigits(number: number): string {
    return number > 0 && number < 10 ? `oh ${this.tables.ones[number]}` : this.belowHundred(number);
  }

  spelled(digits: string): string {
    return Array.from(digits, (digit) => this.tables.ones[Number(digit)]).join(' ');
  }

  /** A number that may be grouped by commas and have decimals. */
  number(text: string): string {
    const [whole, decimals] = text.replaceAll(',', '').split('.') as [string, string?];
    const words = whole ? [this.cardinal(whole)] : [];
    if (decimals) words.push('point', this.spelled(decimals));
    return words.join(' ');
  }

  private belowThousand(number: number): string {
    const [hundreds, rest] = [Math.floor(number / 100), number % 100];
    const words = hundreds ? [`${this.tables.ones[hundreds]} hundred`] : [];
    if (rest) words.push(this.belowHundred(rest));
    return words.join(' ');
  }

  private belowHundred(number: number): string {
    const { ones, tens } = this.tables;
    if (number < ones.length) return ones[number]!;
    return [tens[Math.floor(number / 10)], number % 10 ? ones[number % 10] : ''].filter(Boolean).join(' ');
  }
}
