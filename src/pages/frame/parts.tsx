// Components that pages share: fields with hints and problems, notices, copy buttons, times.

import { type ComponentChildren, h, type JSX } from 'preact'
import { MIN_PASSWORD_LENGTH } from '../../domain/account.ts'
import type { Problem, Problems } from '../../domain/problems.ts'
import type { PushKind } from '../../domain/push.ts'
import { formatTime } from '../../domain/time.ts'
import type { WordKey, Words } from '../../words/words.ts'
import type { Guest } from './guest.ts'
import type { IconName } from './icon-files.ts'
import { Icon } from './icons.tsx'

/** The problems of each field in the guest's language. */
export function problemTexts(problems: Problems, words: Words): Record<string, string> {
  const texts = Object.entries(problems).map(([field, found]) => [
    field,
    found.map((problem) => problemText(problem, words)).join(' '),
  ])
  return Object.fromEntries(texts)
}

export function problemText({ code, ...limits }: Problem, words: Words): string {
  const key: WordKey = `problem_${code}`
  return words.say(key, 'limit' in limits ? { ...limits, n: limits.limit } : limits)
}

/** The names of the kinds of pushes. */
export const KIND_WORDS: Record<PushKind, WordKey> = {
  text: 'kind_text',
  file: 'kind_file',
  url: 'kind_url',
  qr: 'kind_qr',
}

type FieldProps = {
  id: string
  label: ComponentChildren
  hint?: ComponentChildren
  problem?: string | undefined
  /** A button inside the end of the control. */
  trailing?: ComponentChildren
  children: (describes: Described) => JSX.Element
}

/** Attributes that tie a control to its hint and problem. */
export type Described = {
  id: string
  'aria-describedby': string
  'aria-invalid'?: 'true'
}

/** The element for the problem is always there, so that a script can fill it. */
export function Field({ id, label, hint, problem, trailing, children }: FieldProps) {
  const describes: Described = { id, 'aria-describedby': `${id}-hint ${id}-problem` }
  if (problem !== undefined) Object.assign(describes, { 'aria-invalid': 'true' })
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {trailing === undefined ? (
        children(describes)
      ) : (
        <div class="trailing">
          {children(describes)}
          {trailing}
        </div>
      )}
      <p class="hint" id={`${id}-hint`}>
        {hint}
      </p>
      <p class="problem" id={`${id}-problem`}>
        {problem}
      </p>
    </div>
  )
}

export type InputProps = Omit<FieldProps, 'children'> & {
  name: string
  type?: 'text' | 'password' | 'email' | 'number'
  value?: string | number | undefined
  /** More HTML attributes of the control. */
  attributes?: Record<string, string | number | boolean>
}

export function Input({ name, type = 'text', value, attributes, ...field }: InputProps) {
  return (
    <Field {...field}>{(describes) => h('input', { name, type, value, ...attributes, ...describes })}</Field>
  )
}

/** The `maxlength` for a number of characters: browsers count UTF-16 units, and a character has up to two. */
export function maxLengthOf(characters: number): number {
  return 2 * characters
}

type TickProps = {
  id: string
  name: string
  label: string
  hint?: string
  isTicked: boolean
  /** Sent when the box is not ticked, where a missing field would mean the default. */
  otherwise?: string
}

export function Tick({ id, name, label, hint, isTicked, otherwise }: TickProps) {
  return (
    <div class="tick">
      {otherwise === undefined ? null : <input type="hidden" name={name} value={otherwise} />}
      <input
        type="checkbox"
        id={id}
        name={name}
        value="true"
        checked={isTicked}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
      />
      <label for={id}>{label}</label>
      {hint === undefined ? null : (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

/** The field for a new password. */
export function NewPasswordInput({ words, problem }: { words: Words; problem: string | undefined }) {
  return (
    <Input
      id="password"
      name="password"
      type="password"
      label={words.say('password_new')}
      hint={words.say('password_hint', { n: MIN_PASSWORD_LENGTH })}
      problem={problem}
      attributes={{ autocomplete: 'new-password', required: true, minlength: MIN_PASSWORD_LENGTH }}
    />
  )
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
export function Notice({ kind, children }: { kind: NoticeKind; children: ComponentChildren }) {
  return (
    <div class={`notice ${kind}`} role={kind === 'bad' ? 'alert' : 'status'}>
      <Icon name={NOTICE_ICONS[kind]} />
      <div>{children}</div>
    </div>
  )
}

/** Why a form was refused. It has the focus, so that keyboard users and screen readers begin there. */
export function RefusedNotice({ children }: { children: ComponentChildren }) {
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

/** The hidden form token of the session, for every form that changes something. */
export function FormToken({ guest }: { guest: Guest }) {
  return guest.session === null ? null : <input type="hidden" name="form" value={guest.session.formToken} />
}

/** A form with a button and nothing else. */
export function ButtonForm(props: { guest: Guest; action: string; label: string; isDangerous?: boolean }) {
  const { guest, action, label, isDangerous = false } = props
  return (
    <form method="post" action={guest.href(action)} class="inline">
      <FormToken guest={guest} />
      <button type="submit" class={isDangerous ? 'danger' : 'quiet'}>
        {label}
      </button>
    </form>
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
