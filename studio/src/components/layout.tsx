/** The parts that pages are made of. */
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { ApiError, messageOf } from '../api/client';
import { href } from '../router';
import { Icon, type IconName } from './icon';

interface PageProps {
  title: string;
  lead?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** A page with its heading, which is also the title of the window. */
export function Page({ title, lead, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Polyvox Studio`;
  }, [title]);
  return (
    <>
      <header class="page-head">
        <div>
          <h1>{title}</h1>
          {lead && <p class="lead">{lead}</p>}
        </div>
        {actions && <div class="row">{actions}</div>}
      </header>
      {children}
    </>
  );
}

/** A surface that holds things that belong together. */
export function Card({ title, class: name = '', children }: { title?: string; class?: string; children: ComponentChildren }) {
  return (
    <section class={`card ${name}`}>
      {title && <h2>{title}</h2>}
      {children}
    </section>
  );
}

export type NoticeKind = 'info' | 'good' | 'warn' | 'bad';
const NOTICE_ICONS: Record<NoticeKind, IconName> = { info: 'info', good: 'check', warn: 'alert', bad: 'alert' };

export function Notice({ kind = 'info', children }: { kind?: NoticeKind; children: ComponentChildren }) {
  return (
    <div class={`notice ${kind}`} role={kind === 'bad' ? 'alert' : 'status'}>
      <Icon name={NOTICE_ICONS[kind]} />
      <div>{children}</div>
    </div>
  );
}

/** What went wrong, and the remedy; nothing where nothing did. */
export function Failure({ error }: { error: unknown }) {
  if (!error) return null;
  if (error instanceof ApiError && error.status === 401) {
    return (
      <Notice kind="warn">
        This server asks for a key. <a href={href('settings')}>Enter it in Settings</a>.
      </Notice>
    );
  }
  return <Notice kind="bad">{messageOf(error)}</Notice>;
}

/** What to do where there is nothing to show yet. */
export function Empty({ icon, children }: { icon: IconName; children: ComponentChildren }) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <p>{children}</p>
    </div>
  );
}

export function Loading({ what }: { what: string }) {
  return (
    <p class="loading" role="status">
      <span class="spinner" aria-hidden="true" /> Loading {what}…
    </p>
  );
}

/** Progress between 0 and 1; null where nobody knows how much is left. */
export function Progress({ label, value }: { label: string; value: number | null }) {
  return <progress aria-label={label} max={1} {...(value === null ? {} : { value })} />;
}
