/** The files of a book: to hear and to keep. */
import { useState } from 'preact/hooks';
import { address, call, saveFile } from '../../api/client';
import { useAction } from '../../components/action';
import { Clip } from '../../components/clip';
import { Button, Select } from '../../components/controls';
import { Icon } from '../../components/icon';
import { Failure } from '../../components/layout';
import { apiKey } from '../../preferences';
import { useStore } from '../../store';
import { lengthWords, sizeWords } from './progress';
import type { JobFile } from './types';

export function Files({ title, files }: { title: string; files: JobFile[] }) {
  const playable = files.filter(({ media_type }) => media_type.startsWith('audio/'));
  const chapters = playable.filter(({ kind }) => kind === 'chapter');
  return (
    <>
      {playable.length > 0 && <Player title={title} files={chapters.length ? chapters : playable} />}
      <ul class="files">
        {files.map((file) => (
          <li key={file.name}>
            <FileLink file={file} />
          </li>
        ))}
      </ul>
    </>
  );
}

/** A link; with a key, which a link cannot send, a button that fetches the file. */
function FileLink({ file }: { file: JobFile }) {
  const key = useStore(apiKey);
  const action = useAction();
  const label = `${file.saved_name} (${[lengthWords(file), sizeWords(file.bytes)].filter(Boolean).join(', ')})`;
  if (!key) {
    return (
      <a class="button plain" href={address(file.url)} download={file.saved_name}>
        <Icon name="download" />
        <span>{label}</span>
      </a>
    );
  }
  return (
    <>
      <Button
        icon="download"
        busy={action.busy}
        onClick={() => void action.run(async () => saveFile(await fetched(file), file.saved_name))}
      >
        {label}
      </Button>
      <Failure error={action.error} />
    </>
  );
}

/** Plays one chapter after the other. */
function Player({ title, files }: { title: string; files: JobFile[] }) {
  const [place, setPlace] = useState(0);
  const [goesOn, setGoesOn] = useState(false);
  const key = useStore(apiKey);
  const file = files[place] ?? files[0]!;
  const label = `${title}, ${chapterWords(file)}`;
  const next = () => {
    if (place + 1 >= files.length) return;
    setGoesOn(true);
    setPlace(place + 1);
  };
  return (
    <div class="stack">
      {files.length > 1 && (
        <Select
          label="Listen to"
          value={String(place)}
          options={files.map((each, index) => ({ value: String(index), label: chapterWords(each) }))}
          onChange={(value) => setPlace(Number(value))}
        />
      )}
      {key ? (
        <FetchedPlayer key={file.name} file={file} label={label} />
      ) : (
        <audio
          class="clip"
          controls
          preload="none"
          autoplay={goesOn}
          src={address(file.url)}
          aria-label={label}
          onEnded={next}
        />
      )}
    </div>
  );
}

function FetchedPlayer({ file, label }: { file: JobFile; label: string }) {
  const [data, setData] = useState<Blob | null>(null);
  const action = useAction();
  if (data) return <Clip data={data} label={label} autoplay />;
  return (
    <>
      <div class="row">
        <Button
          icon="play"
          busy={action.busy}
          onClick={() => void action.run(async () => setData(await fetched(file)))}
        >
          Listen
        </Button>
      </div>
      <Failure error={action.error} />
    </>
  );
}

async function fetched(file: JobFile): Promise<Blob> {
  return (await call(file.url)).blob();
}

function chapterWords(file: JobFile): string {
  const name = file.chapter === null ? file.saved_name : `Chapter ${file.chapter}`;
  return file.seconds === null ? name : `${name}, ${lengthWords(file)}`;
}
