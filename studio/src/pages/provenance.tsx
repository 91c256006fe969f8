import { useState } from 'preact/hooks';
import { getJson } from '../api/client';
import { useAction } from '../components/action';
import { Button } from '../components/controls';
import { DropZone } from '../components/drop_zone';
import { Card, Failure, Notice, Page, type NoticeKind } from '../components/layout';

type Verdict = 'found' | 'partial' | 'not_found' | 'invalid' | 'not_checked';

interface Finding {
  evidence: 'tags' | 'signature' | 'watermark';
  verdict: Verdict;
  confidence: number;
  says: string;
  details: Record<string, unknown>;
}

interface Findings {
  /** Null where no evidence says anything, which does not mean that a person spoke. */
  synthetic: true | null;
  findings: Finding[];
}

export function ProvenancePage() {
  const [file, setFile] = useState<File | null>(null);
  const [findings, setFindings] = useState<Findings | null>(null);
  const action = useAction();
  const choose = (chosen: File | null) => {
    setFile(chosen);
    setFindings(null);
  };
  const check = async (chosen: File) => {
    const form = new FormData();
    form.set('file', chosen);
    setFindings(await getJson<Findings>('v1/audio/provenance', { body: form }));
  };
  return (
    <Page title="Provenance" lead="Find out whether a recording is synthetic speech: by its tags, its signature and its watermark.">
      <Card title="Check a file">
        <DropZone label="Audio file" hint="MP3, WAV, Opus, FLAC or AAC. Drop it here, or choose it." accept="audio/*" file={file} onChange={choose} />
        <Failure error={action.error} />
        <div class="row">
          <Button kind="primary" icon="search" busy={action.busy} disabled={!file} onClick={() => file && void action.run(() => check(file))}>
            Check
          </Button>
        </div>
      </Card>
      {findings && <Result {...findings} />}
    </Page>
  );
}

function Result({ synthetic, findings }: Findings) {
  return (
    <>
      <Notice kind={synthetic ? 'warn' : 'info'}>
        {synthetic
          ? 'This is synthetic speech, as far as the evidence below can be trusted.'
          : 'Nothing says that this is synthetic speech. That does not mean that a person spoke.'}
      </Notice>
      {findings.map((finding) => (
        <FindingCard key={finding.evidence} {...finding} />
      ))}
    </>
  );
}

const TITLES = { tags: 'Tags', signature: 'Signature', watermark: 'Watermark' } as const;
const VERDICTS: Record<Verdict, { label: string; kind: NoticeKind }> = {
  found: { label: 'Found', kind: 'good' },
  partial: { label: 'Found in part', kind: 'good' },
  not_found: { label: 'Not found', kind: 'info' },
  invalid: { label: 'Not valid', kind: 'bad' },
  not_checked: { label: 'Not checked', kind: 'info' },
};

function FindingCard({ evidence, verdict, confidence, says, details }: Finding) {
  const { label, kind } = VERDICTS[verdict];
  const facts = Object.entries(details).filter(([, value]) => value !== null && value !== '');
  return (
    <Card title={TITLES[evidence]}>
      <Notice kind={kind}>
        <p>
          <strong>{label}</strong>
          {confidence > 0 && `, confidence ${Math.round(confidence * 100)} %`}
        </p>
        <p>{says}</p>
      </Notice>
      {facts.length > 0 && (
        <dl class="figures">
          {facts.map(([name, value]) => (
            <div key={name}>
              <dt>{name.replaceAll('_', ' ')}</dt>
              <dd>{String(value)}</dd>
            </div>
          ))}
        </dl>
      )}
    </Card>
  );
}
