/** What plays audio while it still arrives. */
import { preferences } from '../preferences';
import { MediaPlayer } from './media_player';
import { PcmPlayer } from './pcm_player';

export interface Player {
  /** The format that it takes. */
  readonly format: 'mp3' | 'pcm';
  /** Seconds from the start of the audio to what is heard now. */
  readonly time: number;
  readonly paused: boolean;
  readonly ended: boolean;
  /** Seconds that have arrived. */
  readonly duration: number;
  /** Whether it can play faster and slower. */
  readonly hasRate: boolean;
  /** Loudness from 0 to 1, and how many times as fast it plays. */
  adjust(volume: number, rate: number): void;
  append(data: Uint8Array): void;
  /** Nothing more will be appended. */
  finish(): void;
  play(): void;
  pause(): void;
  seek(seconds: number): void;
  close(): void;
}

/** A player of this browser, of a format if one is given; `onChange` is called when it begins, pauses, waits or ends. */
export function createPlayer(onChange: () => void, format?: Player['format']): Player {
  const player = format !== 'pcm' && MediaPlayer.isSupported() ? new MediaPlayer(onChange) : new PcmPlayer(onChange);
  const { volume, playbackRate } = preferences.get();
  player.adjust(volume, playbackRate);
  return player;
}
