/** One book: how far it is, what to do with it, and its files. */
import { useEffect, useState } from 'preact/hooks';
import { useAction } from '../../components/action';
import { ConfirmButton } from '../../components/confirm';
import { Button } from '../../components/controls';
import { Failure, Notice, Progress } from '../../components/layout';
import { commandJob, deleteJob, type JobCommand } from './calls';
import { Files } from './files';
import { secondsLeft, spokenSeconds, statusWords, timeWords, withMark, type Mark } from './progress';
import { isOver, type Job } from './types';

interface Props {
  job: Job;
  onChanged: () => void;
  onDeleted: () => void;
}

export function JobCard({ job, onChanged, onDeleted }: Props) {
  const [marks, setMarks] = useState<Mark[]>([]);
  const action = useAction();
  const title = job.title || 'Untitled';
  useEffect(() => setMarks((before) => withMark(before, job, Date.now())), [job]);
  const send = (command: JobCommand) => void action.run(() => commandJob(job.id, command).then(onChanged));
  const running = job.status === 'queued' || job.status === 'running';
  return (
    <li class="card stack">
      <h3>{title}</h3>
      <p role="status">{statusWords(job.status)}</p>
      {!isOver(job.status) && <Progress label={`Progress of ${title}`} value={job.progress.percent / 100} />}
      <p class="soft">{progressWords(job, secondsLeft(marks, job))}</p>
      {job.error && <Notice kind="bad">{job.error.message}</Notice>}
      <Failure error={action.error} />
      <div class="row">
        {running && (
          <Button icon="pause" aria-label={`Pause ${title}`} disabled={action.busy} onClick={() => send('pause')}>
            Pause
          </Button>
        )}
        {(job.status === 'paused' || job.status === 'failed') && (
          <Button icon="play" aria-label={`Go on with ${title}`} disabled={action.busy} onClick={() => send('resume')}>
            Go on
          </Button>
        )}
        {isOver(job.status) ? (
          <ConfirmButton
            label="Delete"
            question={`Delete ${title} and its files?`}
            disabled={action.busy}
            onConfirm={() => void action.run(() => deleteJob(job.id).then(onDeleted))}
          />
        ) : (
          <ConfirmButton
            label="Cancel"
            icon="close"
            question={`Cancel ${title}?`}
            disabled={action.busy}
            onConfirm={() => send('cancel')}
          />
        )}
      </div>
      {job.files.length > 0 && <Files title={title} files={job.files} />}
      {job.status === 'done' && job.expires && (
        <p class="hint">The files are kept until {new Date(job.expires * 1000).toLocaleString()}.</p>
      )}
    </li>
  );
}

function progressWords(job: Job, left: number | null): string {
  const { progress, status } = job;
  const parts = [
    `${progress.sentences_done} of ${progress.sentences} sentences`,
    progress.chapters > 1 && !isOver(status) && `chapter ${progress.chapter} of ${progress.chapters}`,
    `${timeWords(spokenSeconds(job))} of speech`,
    left !== null && `about ${timeWords(left)} left`,
  ];
  return parts.filter(Boolean).join(' · ');
}
