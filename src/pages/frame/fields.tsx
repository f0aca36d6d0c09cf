// The fields of forms: labels, hints and problems.

import type { Problem, Problems } from '../../domain/problems.ts'
import type { WordKey, Words } from '../../words/words.ts'
import type { RefusedForm } from './form.ts'
import type { Children, Html } from './html.ts'
import { Icon } from './icons.tsx'
import { Notice } from './parts.tsx'

/** Returns the problems of each field in the guest's language. */
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

export type FieldProps = {
  id: string
  label: Children
  hint?: Children
  problem?: Children | undefined
  /** A button inside the control, at its end. */
  trailing?: Children
  children: (describes: Described) => Html
}

/** Attributes that connect a control with its hint and problem. */
export type Described = {
  id: string
  'aria-describedby': string
  'aria-invalid'?: 'true'
}

/** A labelled control. The element for its problem always exists, so that a script can fill it in. */
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

type FilledForm = {
  /** Returns the text typed into a field; '' if there is none. */
  typed: (field: string) => string
  texts: Readonly<Record<string, string>>
  /** The prefix of the names, as `push` in `push[name]`. */
  wrapper?: string
}

/** Returns a function from a field's id to the props of its control: id, name, typed value and problem. */
export function createFieldOf({ typed, texts, wrapper }: FilledForm) {
  return (id: string) => ({
    id,
    name: wrapper === undefined ? id : `${wrapper}[${id}]`,
    value: typed(id),
    problem: texts[id],
  })
}

/** Returns the values and problems of a form: those of the refused form, else the current values. */
export function readFields(
  refused: RefusedForm | null,
  words: Words,
  present: Record<string, string | null> = {},
) {
  const texts = problemTexts(refused?.problems ?? {}, words)
  const typed = (field: string) => refused?.form.text(field) ?? present[field] ?? ''
  const ticked = (id: string, preset: boolean) => ({
    id,
    name: id,
    isTicked: refused?.form.isTicked(id) ?? preset,
  })
  return { texts, typed, field: createFieldOf({ typed, texts }), ticked }
}

export type FieldOf = ReturnType<typeof createFieldOf>

type ControlProps = Omit<FieldProps, 'children'> & {
  name: string
  value?: string | number | undefined
}

export type InputProps = ControlProps & {
  type?: 'text' | 'password' | 'email' | 'number'
  /** Additional HTML attributes of the control. */
  attributes?: Record<string, string | number | boolean>
}

export function Input({ name, type = 'text', value, attributes, ...field }: InputProps) {
  const direction = type === 'number' ? {} : { dir: 'auto' }
  const control: Record<string, unknown> = { name, type, value, ...direction, ...attributes }
  return <Field {...field}>{(describes) => <input {...control} {...describes} />}</Field>
}

/** A text area. Adds a line break, because HTML drops the first one after the tag. */
export function TextArea({ name, value = '', attributes, ...field }: Omit<InputProps, 'type'>) {
  const control: Record<string, unknown> = { name, dir: 'auto', ...attributes }
  return (
    <Field {...field}>{(describes) => <textarea {...control} {...describes}>{`\n${value}`}</textarea>}</Field>
  )
}

type SelectProps = ControlProps & {
  options: readonly (readonly [value: string | number, text: string, language?: string])[]
}

export function Select({ name, value, options, ...field }: SelectProps) {
  return (
    <Field {...field}>
      {(describes) => (
        <select name={name} {...describes}>
          {options.map(([option, text, language]) => (
            <option value={option} lang={language} selected={String(option) === value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

/**
 * Returns the `maxlength` for a number of characters. It counts UTF-16 units, of which a character has up to
 * two.
 */
export function maxLengthOf(characters: number): number {
  return 2 * characters
}

type TickProps = {
  id: string
  name: string
  label: string
  hint?: string
  isTicked?: boolean
  isRequired?: boolean
  /** Sent if the box is not ticked. Use it where a missing field would mean the default. */
  otherwise?: string
}

export function Tick({ id, name, label, hint, isTicked = false, isRequired = false, otherwise }: TickProps) {
  return (
    <div class="tick">
      {otherwise === undefined ? null : <input type="hidden" name={name} value={otherwise} />}
      <input
        type="checkbox"
        id={id}
        name={name}
        value="true"
        checked={isTicked}
        required={isRequired}
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

/** The ids and labels of the form fields, by API field. */
export type FieldLabels = Readonly<Partial<Record<string, readonly [id: string, label: WordKey]>>>

type ProblemListProps = { texts: Readonly<Record<string, string>>; places: FieldLabels; words: Words }

/** Lists problems with links to their fields. A problem of an unknown field has no link. */
export function ProblemList({ texts, places, words: { say } }: ProblemListProps) {
  return (
    <ul>
      {Object.entries(texts).map(([field, text]) => {
        const [id, label] = places[field] ?? []
        if (label === undefined) return <li>{text}</li>
        return (
          <li>
            <a href={`#${id}`}>{say('labelled', { label: say(label), text })}</a>
          </li>
        )
      })}
    </ul>
  )
}

type RefusedFieldsProps = {
  /** The problems by the id of the field. */
  problems: Readonly<Record<string, string | undefined>>
  words: Words
}

/** The notice of a refused form. Renders nothing if no field has a problem. */
export function RefusedFields({ problems, words }: RefusedFieldsProps) {
  const links = Object.entries(problems)
    .filter(([, text]) => text !== undefined)
    .map(([id, text]) => <a href={`#${id}`}>{text}</a>)
  if (links.length === 0) return null
  return (
    <Notice kind="refused">
      <p>{links.length === 1 ? links : words.say('form_problems')}</p>
      {links.length > 1 && (
        <ul>
          {links.map((link) => (
            <li>{link}</li>
          ))}
        </ul>
      )}
    </Notice>
  )
}

/**
 * Reveals the `.masked` text beside it, inside an `.unseen` element, without a script. Contains no text, so
 * copying the surrounding text is exact.
 */
export function Eye({ words, controls }: { words: Words; controls: string }) {
  return (
    <label class="show">
      <input type="checkbox" autocomplete="off" aria-label={words.say('show')} aria-controls={controls} />
      <Icon name="eye" />
      <Icon name="eye-off" />
    </label>
  )
}
