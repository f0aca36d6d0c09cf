// Components that pages share: notices, cards, buttons that copy, states, times.

import type { PushKind } from '../../domain/push.ts'
import { formatTime } from '../../domain/time.ts'
import type { LabelledPush } from '../../pushes/owner-lists.ts'
import type { WordKey, Words } from '../../words/words.ts'
import type { Children } from './html.ts'
import type { IconName } from './icon-files.ts'
import { Icon } from './icons.tsx'

/** The kinds of pushes look the same in the form and in lists. */
export const KIND_ICONS: Record<PushKind, IconName> = {
  text: 'message-square-text',
  file: 'file',
  url: 'link',
  qr: 'qr-code',
}

/**
 * good: it worked. low: take care. bad: it failed. refused: a form was, and the notice has the focus, to
 * begin there.
 */
export type NoticeKind = 'good' | 'low' | 'bad' | 'plain' | 'refused'

const NOTICE_ICONS: Record<NoticeKind, IconName> = {
  good: 'circle-check',
  low: 'triangle-alert',
  bad: 'circle-alert',
  plain: 'info',
  refused: 'circle-alert',
}

/** Screen readers read out a bad notice at once. A text alone is a paragraph. */
export function Notice({ kind, children }: { kind: NoticeKind; children: Children }) {
  const isRefused = kind === 'refused'
  return (
    <div
      class={`notice ${isRefused ? 'bad' : kind}`}
      role={isRefused || kind === 'bad' ? 'alert' : 'status'}
      tabIndex={isRefused ? -1 : undefined}
      autofocus={isRefused}
    >
      <Icon name={NOTICE_ICONS[kind]} />
      <div>{typeof children === 'string' ? <p>{children}</p> : children}</div>
    </div>
  )
}

/** A titled part of a page, on a surface of its own, to which `#id` leads. */
export function Card({ id, title, children }: { id: string; title: string; children: Children }) {
  return (
    <section class="card" aria-labelledby={`${id}-title`} id={id}>
      <h2 id={`${id}-title`}>{title}</h2>
      {children}
    </section>
  )
}

type EmblemProps = { icon: IconName; tone?: 'gone' | 'bad' | 'good'; title: string; children: Children }

/** The card of a page with a single message: for recipients, of a lapsed link, of an error. */
export function EmblemCard({ icon, tone, title, children }: EmblemProps) {
  return (
    <div class="card">
      <p class={tone === undefined ? 'emblem' : `emblem ${tone}`}>
        <Icon name={icon} />
      </p>
      <h1>{title}</h1>
      {children}
    </div>
  )
}

type LinkProps = { to: string; icon: IconName; look?: 'primary' | 'quiet'; children: Children }

/** A link that looks like a button. */
export function ButtonLink({ to, icon, look = 'quiet', children }: LinkProps) {
  return (
    <a class={`button ${look}`} href={to}>
      <Icon name={icon} />
      <span>{children}</span>
    </a>
  )
}

type CopyProps = {
  /** The id of the element whose text is copied; '' with `text`. */
  target: string
  text?: string
  words: Words
  look?: 'primary' | 'primary large' | 'quiet' | 'bare square'
  /** What the button says; "Copy" without it. A square button says it to screen readers alone. */
  label?: string
}

/** A script shows the button and reports the result. */
export function CopyButton({ target, text, words: { say }, look = 'quiet', label = say('copy') }: CopyProps) {
  const isSquare = look === 'bare square'
  return (
    <button
      type="button"
      class={look}
      hidden
      data-copies={target}
      data-text={text}
      data-done={say('copied')}
      data-failed={say('copy_failed')}
      aria-label={isSquare ? label : undefined}
    >
      <Icon name="copy" />
      <Icon name="check" />
      {isSquare ? null : <span>{label}</span>}
    </button>
  )
}

type LinkBoxProps = { id: string; label: string; text: string; children: Children }

/** A link or a token to hand over, with its buttons. */
export function LinkBox({ id, label, text, children }: LinkBoxProps) {
  return (
    <section class="link" aria-label={label}>
      <pre id={id} dir="ltr">
        <code>{text}</code>
      </pre>
      {children}
    </section>
  )
}

/** A link or a token that is shown this once, to be copied. */
export function ShownOnce({ words, children, ...box }: LinkBoxProps & { words: Words }) {
  return (
    <Notice kind="good">
      <p>{children}</p>
      <LinkBox {...box}>
        <CopyButton target={box.id} words={words} />
      </LinkBox>
    </Notice>
  )
}

/** A text of the page with an element in place of `{name}`. */
export function fillIn(text: string, name: string, element: Children): Children {
  const [before, after] = text.split(`{${name}}`)
  return after === undefined ? before : [before, element, after]
}

/** What people type or compare: written from left to right in every language, and not broken. */
export function Flag({ children }: { children: string }) {
  return (
    <code class="flag" dir="ltr">
      {children}
    </code>
  )
}

export function withFlag(text: string, flag: string): Children {
  return fillIn(text, 'flag', <Flag>{flag}</Flag>)
}

/** A time in UTC; a script shows it in the reader's time zone. */
export function Moment({ at, words }: { at: number; words: Words }) {
  return <time datetime={formatTime(at)}>{words.moment(at)}</time>
}

/** The time of the day alone, for a moment that is near. */
export function Clock({ at, words }: { at: number; words: Words }) {
  return (
    <time datetime={formatTime(at)} data-clock>
      {words.clock(at)}
    </time>
  )
}

export type Tone = 'good' | 'waiting' | 'low' | 'gone' | 'bad'

/** A state in a word or two. */
export function Chip({ tone, icon, children }: { tone: Tone; icon?: IconName; children: Children }) {
  return (
    <span class={`chip ${tone}`}>
      {icon === undefined ? null : <Icon name={icon} />}
      {children}
    </span>
  )
}

/** The name; without one the kind, and the end of the link to tell one from another. */
export function nameForOwner({ push, urlToken, name }: LabelledPush, { say }: Words): string {
  return name || `${say('push_unnamed', { kind: say(`kind_${push.kind}`) })} (…${urlToken.slice(-4)})`
}

type Seen = { words: Words; now: number }

export function Relative({ at, words, now }: Seen & { at: number }) {
  return (
    <time datetime={formatTime(at)} data-relative>
      {words.relative(at, now)}
    </time>
  )
}

/** A text with `{when}` in it. */
export function sayWhen(key: WordKey, at: number, { words, now }: Seen): Children {
  return fillIn(words.say(key), 'when', <Relative at={at} words={words} now={now} />)
}
