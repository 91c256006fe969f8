/** Record a voice with the microphone. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { useAction } from '../../components/action';
import { Button } from '../../components/controls';
import { Failure } from '../../components/layout';
import { startRecorder, type Recorder } from './recorder';

const LONGEST_SECONDS = 30;
const SAMPLE_TEXT =
  'The tide went out before noon, and the boats lay still on the sand. Nobody hurried. We walked as far as the old ' +
  'lighthouse, talked about the winter, and came home with salt on our coats.';

export function Microphone({ onRecorded }: { onRecorded: (recording: Blob) => void }) {
  const recorder = useRef<Recorder | null>(null);
  const [recording, setRecording] = useState(false);
  const [seconds, setSeconds] = useState(0);
  const [level, setLevel] = useState(0);
  const action = useAction();

  const start = () =>
    action.run(async () => {
      recorder.current = await startRecorder();
      setSeconds(0);
      setRecording(true);
    });
  const stop = () =>
    action.run(async () => {
      const current = recorder.current;
      recorder.current = null;
      setRecording(false);
      if (current) onRecorded(await current.stop());
    });

  useEffect(() => () => recorder.current?.discard(), []);
  useEffect(() => {
    if (!recording) return undefined;
    const began = Date.now();
    const timer = setInterval(() => {
      const passed = (Date.now() - began) / 1000;
      setSeconds(passed);
      setLevel(recorder.current?.level() ?? 0);
      if (passed >= LONGEST_SECONDS) void stop();
    }, 100);
    return () => clearInterval(timer);
  }, [recording]);

  return (
    <>
      <p>Read this aloud in a quiet room, 5 to 20 seconds of it, a hand's width from the microphone:</p>
      <blockquote>{SAMPLE_TEXT}</blockquote>
      <div class="row">
        <Button
          kind={recording ? 'danger' : 'plain'}
          icon={recording ? 'stop' : 'record'}
          disabled={action.busy}
          onClick={recording ? stop : start}
        >
          {recording ? 'Stop recording' : 'Start recording'}
        </Button>
        {recording && (
          <>
            <span aria-hidden="true">{seconds.toFixed(1)} s</span>
            <meter min={0} max={1} high={0.98} value={level} aria-label="Level of the microphone" />
          </>
        )}
      </div>
      <p class="hint" role="status">
        {recording && `Recording. It stops by itself after ${LONGEST_SECONDS} seconds.`}
      </p>
      <Failure error={action.error} />
    </>
  );
}
