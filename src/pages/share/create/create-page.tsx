// The page with the create form: empty, preset, or with what was typed and its problems.

import type { AccountPreferences } from '../../../accounts/preferences.ts'
import { isOutage, nullIfMissing, type OutageError } from '../../../domain/errors.ts'
import { anonymousLimits, type PushLimits } from '../../../domain/new-push.ts'
import { NO_CHOICES, type PushChoices } from '../../../domain/push-choices.ts'
import type { Now } from '../../../domain/time.ts'
import { PAGES } from '../../../http/urls.ts'
import type { LabelledPush } from '../../../pushes/owner-lists.ts'
import type { FormMarks } from '../../../pushes/page-seals.ts'
import type { Pushes } from '../../../pushes/pushes.ts'
import type { Words } from '../../../words/words.ts'
import { type FindSetup, type Setup, SetupSteps } from '../../admin/first-steps.tsx'
import { type FieldLabels, ProblemList, problemTexts } from '../../frame/fields.tsx'
import { type Guest, signInHref } from '../../frame/guest.ts'
import { type Html, oncePerLanguage } from '../../frame/html.ts'
import { LocalhostNotice } from '../../frame/localhost-notice.tsx'
import type { AnswerGuest } from '../../frame/page.tsx'
import { Notice, nameForOwner } from '../../frame/parts.tsx'
import { NeedsScript, SealedRequired } from '../../frame/sealing.tsx'
import { CreateFields, CreateForm } from './create-form.tsx'
import { NOTHING_REQUESTED, presetOf, requestedIn, requestedOf } from './create-preset.ts'
import { type CreateScripts, FORM_KINDS, PAYLOADS } from './create-props.ts'
import { type CreateRefusal, whyOutage } from './create-refusals.ts'
import { newUnseen, openerOf, type Typed, type Unseen } from './create-sender.ts'
import { BesideForm, RecipientCard } from './recipient-card.tsx'
import { type Shared, SharedFiles } from './shared.tsx'

export type CreatePageParts = {
  limits: PushLimits
  answer: AnswerGuest
  marks: FormMarks
  preferences: AccountPreferences
  basePath: string
  pushes: Pick<Pushes, 'getOwned'>
  createScripts: CreateScripts
  findSetup: FindSetup
  /** Whether anyone may create an account. */
  signups: boolean
  now: Now
}

type FormState = {
  typed: Typed
  refused: CreateRefusal | null
  /** The push whose settings are copied to the new one. */
  again: LabelledPush | null
  shared?: Shared
  setup?: Setup | null
}

export function createShowForm(options: CreatePageParts) {
  const { answer, marks, preferences, pushes, limits, createScripts, signups, basePath, findSetup, now } =
    options
  const limitsOf = (isOfAccount: boolean) => (isOfAccount ? limits : anonymousLimits(limits))
  const settingsOf = (isOfAccount: boolean) => ({ limits: limitsOf(isOfAccount), createScripts, signups })
  const emptyOf = (isOfAccount: boolean): Typed =>
    presetOf({ requested: NOTHING_REQUESTED, choices: NO_CHOICES, limits: limitsOf(isOfAccount) })
  const empty = { account: emptyOf(true), stranger: emptyOf(false) }

  /** Renders the fields of an empty form, which are the same for all guests with one language. */
  const emptyFields = (isOfAccount: boolean) =>
    oncePerLanguage((words) => {
      const href: Guest['href'] = (path) => `${basePath}${path}`
      const typed = isOfAccount ? empty.account : empty.stranger
      const given = { words, href, isOfAccount, typed, problems: {}, isAgain: false }
      return <CreateFields {...settingsOf(isOfAccount)} {...given} />
    })
  const fieldsOfAccount = emptyFields(true)
  const fieldsOfStranger = emptyFields(false)

  async function show(guest: Guest): Promise<Response> {
    const { account } = guest.viewer
    if (guest.query.has('card')) return answerCard(guest)
    const chosen = account === null ? NO_CHOICES : await preferences.findChoices(account)
    const setup = account === null ? null : await findSetup(account, guest)
    if (guest.query.size === 0 && chosen === NO_CHOICES)
      return answerWith(guest, {
        typed: account === null ? empty.stranger : empty.account,
        refused: null,
        again: null,
        setup,
      })
    const again = await findAgain(guest)
    const requested = again === null ? requestedIn(guest.query) : requestedOf(again)
    const typed = presetOf({ requested, choices: chosen, limits: limitsOf(account !== null) })
    return answerWith(guest, { typed, refused: null, again, setup })
  }

  function answerCard(guest: Guest): Response {
    const card = <RecipientCard guest={guest} limits={limitsOf(guest.session !== null)} now={now()} />
    const title = guest.say('created_preview')
    return answer(card, { guest, title, frame: 'plain', script: null, languageSwitch: false })
  }

  /**
   * Finds the push to copy for "Share again like this". The URL contains only its token, so that no name gets
   * into a proxy's log.
   */
  async function findAgain({ query, session }: Guest): Promise<LabelledPush | null> {
    const urlToken = query.get('like')
    if (urlToken === null || session === null) return null
    return pushes.getOwned(urlToken, session.account).catch(nullIfMissing)
  }

  /** Returns the account's saved choices, or none in an outage: keeping the shared content matters more. */
  async function findChosen(guest: Guest): Promise<PushChoices> {
    try {
      return await preferences.findChoices(guest.viewer.account)
    } catch (cause) {
      if (isOutage(cause)) return NO_CHOICES
      throw cause
    }
  }

  /**
   * Shows the form filled in with the shared content. The person still has to send it. `outage`: the account
   * could not be looked up.
   */
  async function showShared(guest: Guest, shared: Shared, outage: OutageError | null): Promise<Response> {
    const chosen = outage === null ? await findChosen(guest) : NO_CHOICES
    const chosenBefore = presetOf({ requested: NOTHING_REQUESTED, choices: chosen, limits })
    const fields: Record<string, string> = {
      ...shared.fields,
      ...(shared.files.length > 0 ? { kind: 'file' } : {}),
    }
    const typed: Typed = (field) => fields[field] ?? chosenBefore(field)
    const refused = outage === null ? null : { ...whyOutage(outage, guest), typed, isUnknown: true }
    return answerWith(guest, { typed, refused, again: null, shared })
  }

  function showAgain(guest: Guest, refused: CreateRefusal): Response {
    return answerWith(guest, { typed: refused.typed, refused, again: null })
  }

  function answerWith(guest: Guest, { again, shared, setup = null, ...shown }: FormState): Response {
    const isEmpty = shown.typed === empty.account || shown.typed === empty.stranger
    const typed = isEmpty ? shown.typed : withoutLongest(shown.typed, limits)
    const refused = shown.refused === null ? null : { ...shown.refused, typed }
    const { words, href } = guest
    const title = words.say('create_title')
    const isOfAccount = guest.session !== null || (refused !== null && staysWithOpener(refused))
    const given = {
      words,
      href,
      isOfAccount,
      typed,
      problems: refused?.problems ?? {},
      isAgain: refused !== null,
    }
    const fields = isEmpty ? (
      (isOfAccount ? fieldsOfAccount : fieldsOfStranger)(words)
    ) : (
      <CreateFields {...settingsOf(isOfAccount)} {...given} />
    )
    const form = <CreateForm guest={guest} unseen={unseenOf(guest, refused)} fields={fields} />
    const content = (
      <>
        <h1>{title}</h1>
        {/* People with an account know this: their page begins with the field for the recipient. */}
        {!isOfAccount && <p class="lead">{words.say('create_lead')}</p>}
        {setup && <SetupSteps guest={guest} setup={setup} />}
        {again && <LikeAnother words={words} pushed={again} />}
        {refused && <WhyRefused guest={guest} refused={refused} />}
        <ScriptedForm {...{ words, limits, form }} isSealed={typed('end_to_end') === 'true'} />
        <BesideForm words={words} />
        {shared && <SharedFiles files={shared.files} />}
        {guest.findElsewhere()?.flag === null && <LocalhostNotice guest={guest} path={PAGES.create.href()} />}
      </>
    )
    const { status = 200, headers = {} } = refused ?? {}
    const languageSwitch = shared === undefined && refused === null
    return answer(content, { guest, title, status, headers, languageSwitch, script: 'create' })
  }

  /**
   * Returns the hidden fields. Keeps the idempotency key until it has created a push, so that sending the
   * form again creates only one.
   */
  function unseenOf(guest: Guest, refused: CreateRefusal | null): Unseen {
    const fresh = newUnseen(guest, marks)
    if (refused === null) return fresh
    const { typed } = refused
    const kept = refused.isKeyUsed === true ? '' : typed('idempotency_key')
    const idempotencyKey = kept || fresh.idempotencyKey
    // An invalid mark does not identify who opened the form. A signed-in guest then gets new hidden fields,
    // and may send the form as their own.
    const isSigned = typed('opened_by') !== '' || typed('form') !== ''
    const isSomebodys = guest.session === null ? isSigned : marks.read(typed('opened_by')) !== null
    const opener = staysWithOpener(refused) && isSomebodys ? openerOf(typed) : {}
    return { ...fresh, ...opener, idempotencyKey }
  }

  return { show, showShared, showAgain }
}

type ScriptedFormProps = { words: Words; limits: PushLimits; form: Html; isSealed: boolean }

/** The form. Without scripts the page says that the server can read what is typed, or shows no form. */
function ScriptedForm({ words, limits, form, isSealed }: ScriptedFormProps) {
  const { say } = words
  if (limits.endToEnd === 'off') return form
  const readable = <p class="hint">{say('sealed_plain')}</p>
  if (!isSealed) return [form, <noscript>{readable}</noscript>]
  const command = 'oncebox push'
  const isRequired = limits.endToEnd === 'required'
  const otherwise = isRequired ? <SealedRequired {...{ words, command }} /> : [readable, form]
  return <NeedsScript {...{ words, command, otherwise }}>{form}</NeedsScript>
}

/** Longer than any field may be, except the text. */
const MAX_FIELD = 64 * 1024

/**
 * Drops texts that are too long to be accepted. Escaped in a page, they would take many times the memory of
 * the form.
 */
function withoutLongest(typed: Typed, { payloadBytes }: PushLimits): Typed {
  return (field) => {
    const text = typed(field)
    return text.length > (field === 'payload' ? payloadBytes : MAX_FIELD) ? '' : text
  }
}

function staysWithOpener({ isOfSomebodyElse = false, isUnknown = false }: CreateRefusal): boolean {
  return isOfSomebodyElse || isUnknown
}

/** Says that the form repeats the settings of another push, without its payload and passphrase. */
function LikeAnother({ words, pushed }: { words: Words; pushed: LabelledPush }) {
  return (
    <Notice kind="plain">
      <p>{words.say('push_again_lead', { name: nameForOwner(pushed, words) })}</p>
      {pushed.push.passphraseRequired && <p>{words.say('push_again_passphrase')}</p>}
    </Notice>
  )
}

const PLACES: FieldLabels = {
  files: ['files', 'files'],
  wifi_network: ['wifi_network', 'wifi_network'],
  wifi_password: ['wifi_password', 'wifi_password'],
  expire_after: ['expire_after', 'expire_after'],
  expire_after_days: ['expire_after', 'expire_after'],
  expire_after_duration: ['expire_after', 'expire_after'],
  expire_after_views: ['expire_after_views', 'expire_after_views'],
  passphrase: ['passphrase', 'passphrase'],
  name: ['name', 'name'],
  note: ['note', 'note'],
  notify_emails_to: ['notify_emails_to', 'notify_to'],
}

function WhyRefused({ guest: { href, say, words }, refused }: { guest: Guest; refused: CreateRefusal }) {
  const { message, advice, forgetsFiles = false, madeUrlToken = null, isOfSomebodyElse = false } = refused
  const kind = FORM_KINDS.find((known) => known === refused.typed('kind')) ?? 'text'
  const texts = problemTexts(refused.problems ?? {}, words)
  return (
    <Notice kind="refused">
      <p>{message}</p>
      {advice && <p>{advice}</p>}
      {Object.keys(texts).length > 0 && (
        <ProblemList texts={texts} places={{ ...PLACES, payload: PAYLOADS[kind] }} words={words} />
      )}
      {forgetsFiles && <p data-forgotten>{say('files_again')}</p>}
      {madeUrlToken !== null && (
        <a href={href(PAGES.created.href({ url_token: madeUrlToken }))}>{say('create_made')}</a>
      )}
      {isOfSomebodyElse && (
        <a href={href(signInHref(PAGES.create.href()))} target="_blank" rel="noopener">
          {say('form_sign_in')}
        </a>
      )}
    </Notice>
  )
}
