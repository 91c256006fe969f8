/** MP3 audio that plays while it arrives; where a browser cannot do that, it plays when all of it is there. */

const TYPE = 'audio/mpeg';

export class GrowingAudio {
  private readonly source = canGrow() ? new MediaSource() : null;
  private readonly parts: Uint8Array<ArrayBuffer>[] = [];
  private buffer: SourceBuffer | null = null;
  private waiting: Uint8Array<ArrayBuffer>[] = [];
  private ended = false;
  private readonly url: string | null;

  constructor(private readonly element: HTMLAudioElement) {
    this.url = this.source && URL.createObjectURL(this.source);
    if (!this.source || !this.url) return;
    this.source.addEventListener('sourceopen', () => this.open(), { once: true });
    element.src = this.url;
  }

  append(part: Uint8Array<ArrayBuffer>): void {
    if (!part.length) return;
    this.parts.push(part);
    this.waiting.push(part);
    this.feed();
  }

  end(): void {
    this.ended = true;
    if (this.source) this.feed();
    else this.element.src = URL.createObjectURL(new Blob(this.parts, { type: TYPE }));
  }

  /** Let go of the audio; what was playing stops. */
  close(): void {
    this.element.pause();
    this.element.removeAttribute('src');
    this.element.load();
    if (this.url) URL.revokeObjectURL(this.url);
  }

  private open(): void {
    this.buffer = this.source!.addSourceBuffer(TYPE);
    this.buffer.addEventListener('updateend', () => this.feed());
    this.feed();
  }

  private feed(): void {
    if (!this.buffer || this.buffer.updating || this.source?.readyState !== 'open') return;
    const next = this.waiting.shift();
    if (next) this.buffer.appendBuffer(next);
    else if (this.ended) this.source.endOfStream();
  }
}

function canGrow(): boolean {
  return 'MediaSource' in window && MediaSource.isTypeSupported(TYPE);
}
