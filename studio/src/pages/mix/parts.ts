/** The voices of a mix and their shares. */
export interface Part {
  voice: string;
  weight: number;
}

/** `af_heart(3)+bf_emma(1)`; voices without weight are left out. */
export function expressionOf(parts: readonly Part[]): string {
  const used = parts.filter(({ voice, weight }) => voice && weight > 0);
  return used.length === 1 ? used[0]!.voice : used.map(({ voice, weight }) => `${voice}(${weight})`).join('+');
}

/** Whole percents that add up to 100: what rounding down leaves goes to the largest remainders. */
export function percents(weights: readonly number[]): number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (!total) return weights.map(() => 0);
  const exact = weights.map((weight) => (100 * weight) / total);
  const whole = exact.map(Math.floor);
  const left = 100 - whole.reduce((sum, each) => sum + each, 0);
  const places = exact.map((_, at) => at).sort((a, b) => exact[b]! - whole[b]! - (exact[a]! - whole[a]!));
  places.slice(0, left).forEach((at) => (whole[at]! += 1));
  return whole;
}
