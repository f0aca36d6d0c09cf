// The parts that pages are put together from: fields with their hints and problems, notices, copying, moments.

import { type ComponentChildren, h, type JSX } from 'preact'
import { MIN_PASSWORD_LENGTH } from '../../../domain/account.ts'
import type { Problem, Problems } from '../../../domain/problems.ts'
import type { PushKind } from '../../../domain/push.ts'
import { formatTime } from '../../../domain/time.ts'
import type { WordKey, Words } from '../../../words/words.ts'
import type { Guest } from './guest.ts'

/** What was wrong with each field, in the words of the guest. */
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

/** What each kind of push is called. */
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
  children: (describes: Described) => JSX.Element
}

/** Ties a control to its hint and its problem; the first one with a problem gets the focus. */
export type Described = {
  id: string
  'aria-describedby': string
  'aria-invalid'?: 'true'
  autofocus?: true
}

/** The problem is there from the start, empty, so that a script finds the place for it. */
export function Field({ id, label, hint, problem, children }: FieldProps) {
  const describes: Described = { id, 'aria-describedby': `${id}-hint ${id}-problem` }
  if (problem !== undefined) Object.assign(describes, { 'aria-invalid': 'true', autofocus: true })
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children(describes)}
      <p class="hint" id={`${id}-hint`}>
        {hint}
      </p>
      <p class="problem" id={`${id}-problem`}>
        {problem}
      </p>
    </div>
  )
}

type InputProps = Omit<FieldProps, 'children'> & {
  name: string
  type?: 'text' | 'password' | 'email' | 'number'
  value?: string | number | undefined
  /** What else the control has, as HTML names it. */
  attributes?: Record<string, string | number | boolean>
}

export function Input({ name, type = 'text', value, attributes, ...field }: InputProps) {
  return (
    <Field {...field}>{(describes) => h('input', { name, type, value, ...attributes, ...describes })}</Field>
  )
}

/**
 * A passphrase, typed unseen. A script adds a button that shows it: nobody can look a mistyped one up, so that it would lock
 * everybody out.
 */
export function PassphraseInput({ words, ...input }: Omit<InputProps, 'type'> & { words: Words }) {
  return (
    <div class="unseen">
      <Input {...input} type="password" />
      <button
        type="button"
        class="quiet"
        hidden
        aria-controls={input.id}
        data-shows={input.id}
        data-show={words.say('show')}
        data-hide={words.say('hide')}
      >
        {words.say('show')}
      </button>
    </div>
  )
}

/** What `maxlength` has to be for so many characters: browsers count UTF-16 units, of which a character has up to two. */
export function maxLengthOf(characters: number): number {
  return 2 * characters
}

type TickProps = {
  id: string
  name: string
  label: string
  hint?: string
  isTicked: boolean
  /** Sent when it is not ticked, where silence would mean a default. */
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

/** For a password to be chosen. */
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

export type NoticeKind = 'good' | 'bad' | 'plain'

/** Read out at once by screen readers when something went wrong. */
export function Notice({ kind, children }: { kind: NoticeKind; children: ComponentChildren }) {
  return (
    <div class={`notice ${kind}`} role={kind === 'bad' ? 'alert' : 'status'}>
      {children}
    </div>
  )
}

/** Why a form was refused: it has the focus, so that a keyboard goes on from there. */
export function RefusedNotice({ children }: { children: ComponentChildren }) {
  return (
    <div class="notice bad" role="alert" tabIndex={-1} autofocus>
      {children}
    </div>
  )
}

/** Of what a list cannot show. */
export function DamageNotice({ damaged, words }: { damaged: number; words: Words }) {
  return damaged === 0 ? null : (
    <Notice kind="bad">
      <p>{words.say('damaged', { n: damaged })}</p>
    </Notice>
  )
}

/** The token of the session, for every form that changes something. */
export function FormToken({ guest }: { guest: Guest }) {
  return guest.session === null ? null : <input type="hidden" name="form" value={guest.session.formToken} />
}

/** A form that is one button. */
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

/** Something to copy with one press: the button is shown by a script, which says what came of it. */
export function CopyButton({ target, guest: { words } }: { target: string; guest: Guest }) {
  return (
    <button
      type="button"
      class="quiet"
      hidden
      data-copies={target}
      data-done={words.say('copied')}
      data-failed={words.say('copy_failed')}
    >
      {words.say('copy')}
    </button>
  )
}

/** In the reader's own zone where a script runs. */
export function Moment({ at, words }: { at: number; words: Words }) {
  return <time datetime={formatTime(at)}>{words.moment(at)}</time>
}
