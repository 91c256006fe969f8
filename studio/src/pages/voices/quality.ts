/** The quality report of a recording in plain words. */

import type { Quality } from './types';

export interface Finding {
  label: string;
  value: string;
  good: boolean;
}

/** One line for each aspect, and whether it is as it should be. The bounds are those that the server's score uses. */
export function findings(quality: Quality): Finding[] {
  return [
    {
      label: 'Speech',
      value: `${seconds(quality.speech_seconds)} of ${seconds(quality.duration)}`,
      good: quality.speech_ratio >= 0.42,
    },
    { label: 'Background noise', value: noiseWords(quality.snr_db), good: quality.snr_db >= 20 },
    { label: 'Level', value: levelWords(quality.level_dbfs), good: quality.level_dbfs >= -39 },
    { label: 'Distortion', value: clippingWords(quality.clipped_ratio), good: quality.clipped_ratio <= 0.0108 },
  ];
}

export function verdict(score: number): string {
  if (score >= 0.8) return 'Good recording';
  return score >= 0.5
    ? 'Usable recording; a better one gives a better voice'
    : 'Poor recording; record it again if you can';
}

function noiseWords(snr: number): string {
  if (snr >= 30) return 'none to speak of';
  if (snr >= 20) return 'a little';
  return snr >= 10 ? 'clearly heard' : 'loud';
}

function levelWords(level: number): string {
  if (level >= -39) return 'loud enough';
  return level >= -45 ? 'quiet' : 'too quiet';
}

function clippingWords(ratio: number): string {
  if (ratio <= 0.001) return 'none';
  return ratio <= 0.0108 ? 'hardly any' : 'the loudest parts are cut off';
}

function seconds(value: number): string {
  return `${value.toFixed(1)} s`;
}
