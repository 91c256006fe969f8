/** The text while it is spoken: the word that is heard is marked, and a click on a word plays from there. */
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Speech } from '../audio/speech';
import { segments, wordAt } from '../audio/words';
import { useStore } from '../store';

const STEPS: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 10, ArrowUp: -10 };

export function Transcript({ speech, lang }: { speech: Speech; lang?: string }) {
  const { request, words, status } = useStore(speech.state);
  const box = useRef<HTMLDivElement>(null);
  const [stop, setStop] = useState(0);
  const { spoken, rest } = useMemo(() => segments(request?.input ?? '', words), [request, words]);
  useHighlight(speech, box, status === 'starting' || status === 'playing');

  const onKeyDown = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const buttons = [...box.current!.querySelectorAll<HTMLElement>('.word')];
    const here = buttons.indexOf(document.activeElement as HTMLElement);
    const next = Math.min(Math.max(here + step, 0), buttons.length - 1);
    setStop(Number(buttons[next]?.dataset.word));
    buttons[next]?.focus();
  };

  return (
    <div class="transcript" ref={box} role="group" aria-label="Spoken text. Arrow keys move between words, Enter plays from a word." lang={lang} onKeyDown={onKeyDown}>
      {spoken.map(({ text, word }, place) =>
        word === null ? (
          text
        ) : (
          <button
            key={place}
            type="button"
            class="word"
            data-word={word}
            tabIndex={word === stop ? 0 : -1}
            onClick={() => (setStop(word), speech.seek(words[word]!.start))}
          >
            {text}
          </button>
        ),
      )}
      <span class="soft">{rest}</span>
    </div>
  );
}

/** Mark the word that is heard, once a frame, without rendering the whole text again.

It begins before the sound does: the first word may last a tenth of a second. */
function useHighlight(speech: Speech, box: { current: HTMLDivElement | null }, isOn: boolean): void {
  useLayoutEffect(() => {
    if (!isOn) return undefined;
    let frame = 0;
    let shown = -1;
    const follow = () => {
      const index = wordAt(speech.state.get().words, speech.time);
      if (index !== shown && mark(box.current, index)) shown = index; // a word that has just come may not be drawn yet
      frame = requestAnimationFrame(follow);
    };
    follow();
    return () => {
      cancelAnimationFrame(frame);
      if (speech.state.get().status !== 'paused') mark(box.current, -1);
    };
  }, [speech, isOn]);
}

/** Mark one word and no other; whether there is such a word. */
function mark(box: HTMLDivElement | null, index: number): boolean {
  box?.querySelector('.word.heard')?.classList.remove('heard');
  const word = box?.querySelector<HTMLElement>(`[data-word="${index}"]`);
  word?.classList.add('heard');
  if (word && box && box.scrollHeight > box.clientHeight) word.scrollIntoView({ block: 'nearest' });
  return Boolean(word);
}
