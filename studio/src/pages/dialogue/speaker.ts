/** Speaks a dialogue through an audio element, and tells which turn is heard. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { useAction, type Action } from '../../components/action';
import { GrowingAudio } from '../../components/growing_audio';
import { speakDialogue, turnAt, type DialogueBody, type Part } from './stream';

export interface DialogueSpeaker {
  audio: { current: HTMLAudioElement | null };
  action: Action;
  /** The place of the turn that is heard, -1 where none is. */
  turn: number;
  hasAudio: boolean;
  speak: (body: DialogueBody) => void;
  stop: () => void;
  onTime: () => void;
}

export function useDialogueSpeaker(): DialogueSpeaker {
  const audio = useRef<HTMLAudioElement>(null);
  const growing = useRef<GrowingAudio | null>(null);
  const abort = useRef<AbortController | null>(null);
  const parts = useRef<Omit<Part, 'audio'>[]>([]);
  const [turn, setTurn] = useState(-1);
  const [hasAudio, setHasAudio] = useState(false);
  const action = useAction();

  const stop = () => {
    abort.current?.abort();
    growing.current?.close();
    growing.current = null;
    setTurn(-1);
    setHasAudio(false);
  };
  const speak = (body: DialogueBody) =>
    void action.run(async () => {
      stop();
      const ending = (abort.current = new AbortController());
      const sound = (growing.current = new GrowingAudio(audio.current!));
      parts.current = [];
      setHasAudio(true);
      audio.current!.play().catch(() => undefined); // a browser that wants a press first shows its own button
      for await (const { audio: data, ...part } of speakDialogue(body, ending.signal)) {
        sound.append(data);
        parts.current.push(part);
      }
      sound.end();
    });
  useEffect(() => stop, []);
  const onTime = () => setTurn(turnAt(parts.current, audio.current?.currentTime ?? 0));
  return { audio, action, turn, hasAudio, speak, stop, onTime };
}
