// Components that pages share: fields with hints and problems, notices, copy buttons, times.

import type { PushKind } from '../../domain/push.ts'
import { formatTime } from '../../domain/time.ts'
import type { Labelled } from '../../pushes/owner-lists.ts'
import type { WordKey, Words } from '../../words/words.ts'
import type { Guest } from './guest.ts'
import type { Children } from './html.ts'
import type { IconName } from './icon-files.ts'
import { Icon } from './icons.tsx'

/** The names of the kinds of pushes. */
export const KIND_WORDS: Record<PushKind, WordKey> = {
  text: 'kind_text',
  file: 'kind_file',
  url: 'kind_url',
  qr: 'kind_qr',
}

/** good: it worked. low: take care. bad: it failed. */
export type NoticeKind = 'good' | 'low' | 'bad' | 'plain'

const NOTICE_ICONS: Record<NoticeKind, IconName> = {
  good: 'circle-check',
  low: 'triangle-alert',
  bad: 'circle-alert',
  plain: 'info',
}

/** Screen readers read out a bad notice at once. */
export function Notice({ kind, children }: { kind: NoticeKind; children: Children }) {
  return (
    <div class={`notice ${kind}`} role={kind === 'bad' ? 'alert' : 'status'}>
      <Icon name={NOTICE_ICONS[kind]} />
      <div>{children}</div>
    </div>
  )
}

/** Why a form was refused. It has the focus, so that keyboard users and screen readers begin there. */
export function RefusedNotice({ children }: { children: Children }) {
  return (
    <div class="notice bad" role="alert" tabIndex={-1} autofocus>
      <Icon name={NOTICE_ICONS.bad} />
      <div>{children}</div>
    </div>
  )
}

/** How many entries a list cannot show because they are damaged. */
export function DamageNotice({ damaged, words }: { damaged: number; words: Words }) {
  return damaged === 0 ? null : (
    <Notice kind="bad">
      <p>{words.say('damaged', { n: damaged })}</p>
    </Notice>
  )
}

type CopyProps = {
  /** The id of the element whose text is copied. */
  target: string
  guest: Guest
  look?: 'primary' | 'primary large' | 'quiet' | 'bare square'
  /** What the button says; "Copy" without it. A square button says it to screen readers alone. */
  label?: string
}

/** A script shows the button and reports the result. */
export function CopyButton({ target, guest: { words }, look = 'quiet', label }: CopyProps) {
  const text = label ?? words.say('copy')
  const isSquare = look === 'bare square'
  return (
    <button
      type="button"
      class={look}
      hidden
      data-copies={target}
      data-done={words.say('copied')}
      data-failed={words.say('copy_failed')}
      aria-label={isSquare ? text : undefined}
    >
      <Icon name="copy" />
      <Icon name="check" />
      {isSquare ? null : <span>{text}</span>}
    </button>
  )
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
export function nameForOwner({ push, urlToken, name }: Labelled, { say }: Words): string {
  return name || `${say('push_unnamed', { kind: say(KIND_WORDS[push.kind]) })} (…${urlToken.slice(-4)})`
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
export function sayWhen(key: WordKey, at: number, { words, now }: Seen) {
  const [before, after] = words.say(key).split('{when}')
  return (
    <>
      {before}
      <Relative at={at} words={words} now={now} />
      {after}
    </>
  )
}
