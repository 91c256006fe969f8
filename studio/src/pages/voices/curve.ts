/** The similarity of a running fit over its steps, as far as this page has watched it. */

import type { Fit } from './types';

export type Curve = [step: number, similarity: number][];

/** The curve with what the fit says now. */
export function withStep(curve: Curve, fit: Fit): Curve {
  if (fit.similarity === null) return curve;
  const step = fit.status === 'done' ? fit.steps : fit.step;
  const kept = curve.filter(([known]) => known < step);
  return [...kept, [step, fit.similarity]];
}

const PREFIX = 'polyvox.fit.';

/** The curve that an earlier visit to the page has kept in this tab. */
export function storedCurve(id: string): Curve {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(PREFIX + id) ?? '[]');
    return Array.isArray(kept) ? (kept as Curve) : [];
  } catch {
    return [];
  }
}

export function storeCurve(id: string, curve: Curve): void {
  sessionStorage.setItem(PREFIX + id, JSON.stringify(curve));
}
