/** Books and other long texts, made in the background. */
import { useRef, useState } from 'preact/hooks';
import { usePolling } from '../api/polling';
import { Empty, Failure, Loading, Page } from '../components/layout';
import { listJobs } from './jobs/calls';
import { JobCard } from './jobs/job_card';
import { NewJobCard } from './jobs/new_job';
import { isOver, type Job } from './jobs/types';

const ACTIVE_POLL_MS = 1000;
const IDLE_POLL_MS = 15_000;

export function JobsPage() {
  const [jobs, setJobs] = useState<Job[] | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isActive, setActive] = useState(true);
  const poll = async (signal: AbortSignal) => {
    try {
      const latest = await listJobs(signal);
      setJobs(latest);
      setError(null);
      setActive(latest.some(({ status }) => !isOver(status) && status !== 'paused'));
    } catch (problem) {
      if (!signal.aborted) setError(problem);
    }
  };
  usePolling(poll, isActive ? ACTIVE_POLL_MS : IDLE_POLL_MS);
  const refresh = () => void poll(new AbortController().signal);
  const list = useRef<HTMLHeadingElement>(null);
  const deleted = () => {
    list.current?.focus();
    refresh();
  };
  return (
    <Page title="Books" lead="Long texts are spoken in the background. You can close this page; the server goes on.">
      <NewJobCard onStarted={refresh} />
      <section class="stack" aria-labelledby="your-books">
        <h2 id="your-books" ref={list} tabIndex={-1}>
          Your books
        </h2>
        <Failure error={error} />
        {!jobs && !error && <Loading what="your books" />}
        {jobs?.length === 0 && <Empty icon="jobs">There are none yet.</Empty>}
        <ul class="stack">
          {jobs?.map((job) => (
            <JobCard key={job.id} job={job} onChanged={refresh} onDeleted={deleted} />
          ))}
        </ul>
      </section>
    </Page>
  );
}
