export { Player } from './player';
export type { PlayOptions } from './player';
export { Synthesizer } from './synthesizer';
export type { LoadOptions } from './synthesizer';
export type { Progress, SpeakOptions, SpeechPiece, VoiceMix, WordTime } from './speech';
export type { Voice } from './manifest';
