/** The waveform of a sound, with how far it has been heard; a click on it plays from there. */
import { useEffect, useRef } from 'preact/hooks';
import WaveSurfer from 'wavesurfer.js';
import type { Outline } from '../audio/peaks';
import type { Speech } from '../audio/speech';
import { usePreferences } from '../preferences';
import { useStore } from '../store';
import { themeValue } from '../theme';

const NONCE = document.querySelector<HTMLMetaElement>('meta[name=style-nonce]')?.content ?? '';

interface WaveformProps {
  outline: Outline;
  speech: Speech;
  height?: number;
}

/** For eyes and pointers; what it does can be done with the buttons and words beside it. */
export function Waveform({ outline, speech, height = 48 }: WaveformProps) {
  const box = useRef<HTMLDivElement>(null);
  const surfer = useRef<WaveSurfer | null>(null);
  const { theme } = usePreferences();
  const { status } = useStore(speech.state);
  useEffect(() => {
    const made = WaveSurfer.create({
      container: box.current!,
      height,
      peaks: [outline.peaks],
      duration: outline.seconds,
      waveColor: themeValue('--wave'),
      progressColor: themeValue('--accent'),
      cursorWidth: 0,
      barWidth: 3,
      barGap: 2,
      barRadius: 3,
      normalize: true,
      hideScrollbar: true,
      cspNonce: NONCE,
    });
    made.on('interaction', (seconds) => speech.seek(seconds));
    surfer.current = made;
    return () => made.destroy();
  }, [outline, theme, height, speech]);
  useEffect(() => {
    let frame = 0;
    const follow = () => {
      surfer.current?.setTime(status === 'ended' ? outline.seconds : speech.time);
      if (status === 'playing') frame = requestAnimationFrame(follow);
    };
    follow();
    return () => cancelAnimationFrame(frame);
  }, [status, outline, speech]);
  return <div class="waveform" ref={box} aria-hidden="true" />;
}
