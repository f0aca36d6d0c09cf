// Components that pages share: notices, cards, buttons that copy, states, times.

import type { PushKind } from '../../domain/push.ts'
import { formatTime } from '../../domain/time.ts'
import type { LabelledPush } from '../../pushes/owner-lists.ts'
import type { WordKey, Words } from '../../words/words.ts'
import type { Children } from './html.ts'
import type { IconName } from './icon-files.ts'
import { Icon } from './icons.tsx'

/** The icons of the kinds, in the form and in lists. */
export const KIND_ICONS: Record<PushKind, IconName> = {
  text: 'message-square-text',
  file: 'file',
  url: 'link',
  qr: 'qr-code',
}

/**
 * `good`: success. `low`: a warning. `bad`: a failure. `refused`: a refused form; this notice gets the focus.
 */
export type NoticeKind = 'good' | 'low' | 'bad' | 'plain' | 'refused'

const NOTICE_ICONS: Record<NoticeKind, IconName> = {
  good: 'circle-check',
  low: 'triangle-alert',
  bad: 'circle-alert',
  plain: 'info',
  refused: 'circle-alert',
}

/** A notice. Screen readers announce a `bad` one at once. A string becomes a paragraph. */
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

/** A titled card; `#id` links to it. */
export function Card({ id, title, children }: { id: string; title: string; children: Children }) {
  return (
    <section class="card" aria-labelledby={`${id}-title`} id={id}>
      <h2 id={`${id}-title`}>{title}</h2>
      {children}
    </section>
  )
}

type EmblemProps = { icon: IconName; tone?: 'gone' | 'bad' | 'good'; title: string; children: Children }

/** The card of a page with a single message, such as an error or an expired link. */
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

/** A link that looks like a button. */
export function ButtonLink({ to, icon, children }: { to: string; icon: IconName; children: Children }) {
  return (
    <a class="button quiet" href={to}>
      <Icon name={icon} />
      <span>{children}</span>
    </a>
  )
}

type CopyProps = {
  /** The id of the element to copy; '' if `text` is set. */
  target: string
  text?: string
  words: Words
  look?: 'primary' | 'primary large' | 'quiet' | 'bare square'
  /** The button's text, by default "Copy". A square button shows it to screen readers only. */
  label?: string
}

/** A button that copies. A script shows it and reports the result. */
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

/** A link or token to hand over, with its buttons. */
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

/** A link or token that is shown only once, to be copied. */
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

/** Returns the text with the element in place of `{name}`. */
export function fillIn(text: string, name: string, element: Children): Children {
  const [before, after] = text.split(`{${name}}`)
  return after === undefined ? before : [before, element, after]
}

/** A text that people type or compare: left to right in every language, and never broken. */
export function Flag({ children }: { children: string }) {
  return (
    <code class="flag" dir="ltr">
      {children}
    </code>
  )
}

/** The address of a person, emphasized. */
export function Address({ children }: { children: string }) {
  return (
    <strong>
      <bdi>{children}</bdi>
    </strong>
  )
}

export function withFlag(text: string, flag: string): Children {
  return fillIn(text, 'flag', <Flag>{flag}</Flag>)
}

/** A time in UTC. A script shows it in the reader's time zone. */
export function Moment({ at, words }: { at: number; words: Words }) {
  return <time datetime={formatTime(at)}>{words.moment(at)}</time>
}

/** The time of day, for a moment close to now. */
export function Clock({ at, words }: { at: number; words: Words }) {
  return (
    <time datetime={formatTime(at)} data-clock>
      {words.clock(at)}
    </time>
  )
}

type Tone = 'good' | 'waiting' | 'low' | 'gone' | 'bad'

/** A state in words. */
export type StateText = { tone: Tone; icon: IconName; text: Children }

/** A status label of one or two words. */
export function Chip({ tone, children }: { tone: Tone; children: Children }) {
  return <span class={`chip ${tone}`}>{children}</span>
}

/** Returns the push's name; if it has none, its kind and the last characters of its link. */
export function nameForOwner({ push, urlToken, name }: LabelledPush, { say }: Words): string {
  return name || `${say(`kind_${push.kind}`)} …${urlToken.slice(-4)}`
}

type TimeContext = { words: Words; now: number }

function Relative({ at, words, now }: TimeContext & { at: number }) {
  return (
    <time datetime={formatTime(at)} data-relative>
      {words.relative(at, now)}
    </time>
  )
}

/** Returns a text with the relative time in place of `{when}`. */
export function sayWhen(key: WordKey, at: number, { words, now }: TimeContext): Children {
  return fillIn(words.say(key), 'when', <Relative at={at} words={words} now={now} />)
}
