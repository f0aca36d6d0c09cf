// One-time links: setup of the first administrator, invitations, password resets.

import type { Keyring } from '../crypto/keyring.ts'
import { hashToken, newRandomToken } from '../crypto/tokens.ts'
import { type Account, type AccountLink, parseEmail } from '../domain/account.ts'
import type { Visit } from '../domain/audit.ts'
import { keepIntact } from '../domain/damage.ts'
import { invalidFields, notFound } from '../domain/errors.ts'
import type { Language } from '../domain/language.ts'
import type { PageNonce } from '../domain/page-nonce.ts'
import type { MailLimit } from '../pushes/limits.ts'
import { sealMail, type WaitingMails } from '../pushes/sealed-mails.ts'
import type { InLine } from '../pushes/waiting-line.ts'
import type { NewAccountLink } from '../store/accounts-contract.ts'
import type { Store } from '../store/contract.ts'
import type { Passwords } from './passwords.ts'
import type { SignInLimit } from './sign-in-limit.ts'

const EMPTY_LINK = {
  accountId: null,
  email: null,
  isAdmin: false,
  endsTwoFactor: false,
  createdBy: null,
  session: null,
  mail: null,
}

type LinkToAdd = Omit<NewAccountLink, 'hash'>

type ToMail = Omit<WaitingMails['account_mail'], 'token'> & { accountId: number }

type ResetRequest = { email: string; visit: Visit; language: Language }

/**
 * The administrator who creates a link, their session, and the nonce of the page. Throws `conflict` if the
 * nonce is used up.
 */
type LinkCreator = { by: Account; session: number; nonce: PageNonce | null }

export type AccountLinks = ReturnType<typeof createAccountLinks>

type AccountLinksOptions = {
  store: Pick<Store, 'accountLinks' | 'accounts' | 'damage'>
  passwords: Pick<Passwords, 'requireGoodPassword' | 'hashPassword'>
  inLine: InLine
  limit: Pick<SignInLimit, 'tryLink' | 'tryReset'>
  keyring: Keyring
  /** Whether a mailed link may set a password for this account. */
  allowsReset: (account: Account) => boolean
  /** The address of the first administrator; null lets them choose one. */
  setupEmail: string | null
  /** The limit of mails to an account; null if this server sends no mail. */
  mailLimit: MailLimit | null
  onError: (cause: unknown) => void
  /** Called when the setup link has created the first administrator. */
  onSetUp: () => void
}

export function createAccountLinks(options: AccountLinksOptions) {
  const { store, passwords, inLine, limit, keyring, mailLimit, onError, onSetUp, allowsReset } = options
  const { accountLinks, accounts } = store

  async function add(link: LinkToAdd, token = newRandomToken()): Promise<string> {
    await accountLinks.addLink({ ...link, hash: hashToken(token) })
    return token
  }

  /** Adds a link, and sends it by mail for this account. */
  async function addAndMail(link: LinkToAdd, { accountId, ...waiting }: ToMail): Promise<string> {
    const token = newRandomToken()
    const body = sealMail({ ...waiting, token }, { field: 'account_mail', accountId, keyring })
    return add({ ...link, mail: { accountId, body } }, token)
  }

  /** Returns null if there is an administrator. A new link replaces the previous one. */
  async function createSetupLink(): Promise<string | null> {
    if (await accountLinks.hasAdmin()) return null
    return add({ ...EMPTY_LINK, purpose: 'setup', email: options.setupEmail, isAdmin: true })
  }

  /**
   * Creates an invitation, and mails it if a language is given. Throws `invalid` for a malformed address or
   * one with an account, and `too_many_mails`.
   */
  async function invite(
    input: { email: string; isAdmin: boolean; mailIn?: Language | null } & LinkCreator,
  ): Promise<string> {
    const email = parseEmail(input.email)
    if (email === null) throw invalidFields({ email: [{ code: 'not_email' }] })
    if ((await accounts.findAccount(email)) !== null)
      throw invalidFields({ email: [{ code: 'email_taken' }] })
    const { isAdmin, by, session, nonce, mailIn: language = null } = input
    const link = {
      ...EMPTY_LINK,
      purpose: 'invite' as const,
      email,
      isAdmin,
      createdBy: by.id,
      session,
      nonce,
    }
    if (language === null) return add(link)
    if (mailLimit === null) throw notFound()
    return mailLimit.take({ account: by, address: null, recipients: [email] }, () =>
      addAndMail(link, { to: email, language, purpose: 'invite', accountId: by.id }),
    )
  }

  /**
   * Mails a reset link to this address if it has an account. Neither outcome nor duration reveals whether it
   * has one. Throws `too_many` for too many requests from one network address.
   */
  async function sendReset({ email, visit, language }: ResetRequest): Promise<void> {
    if (mailLimit === null) throw notFound()
    if (await limit.tryReset({ email, address: visit.ip }))
      void findAndReset(email, language, mailLimit).catch(onError)
  }

  async function findAndReset(email: string, language: Language, mails: MailLimit): Promise<void> {
    const to = parseEmail(email)
    const account = to === null ? null : await accounts.findAccount(to)
    if (to === null || account === null || account.disabledAt !== null || !allowsReset(account)) return
    const { id: accountId, isAdmin } = account
    const link = { ...EMPTY_LINK, accountId, isAdmin, purpose: 'reset' as const }
    await mails.takeReset(account, () => addAndMail(link, { to, language, purpose: 'reset', accountId }))
  }

  function createResetLink({ id, isAdmin }: Account, made: { endsTwoFactor: boolean } & LinkCreator) {
    const { endsTwoFactor, by, session, nonce } = made
    const whom = { accountId: id, isAdmin, endsTwoFactor, createdBy: by.id, session, nonce }
    return add({ ...EMPTY_LINK, ...whom, purpose: 'reset' })
  }

  /**
   * Resolves to the link with its e-mail address, if known; null if it was used or has expired. Throws
   * `too_many` after too many wrong links.
   */
  async function findLink(token: string, { ip }: Visit): Promise<AccountLink | null> {
    const link = await limit.tryLink(ip, await accountLinks.findLink(hashToken(token)))
    return link === null ? null : withAddress(link)
  }

  async function withAddress(link: AccountLink): Promise<AccountLink> {
    if (link.accountId === null) return link
    return { ...link, email: (await accounts.findById(link.accountId))?.email ?? null }
  }

  /**
   * Sets the password by a link. Throws `invalid` with the invalid fields, `not_found` if the link was used
   * or has expired.
   */
  async function useLink(input: {
    token: string
    email: string
    password: string
    visit: Visit
  }): Promise<{ account: Account; isNew: boolean }> {
    const link = await findLink(input.token, input.visit)
    if (link === null) throw notFound()
    const email = parseEmail(link.email ?? input.email)
    if (email === null) throw invalidFields({ email: [{ code: 'not_email' }] })
    await passwords.requireGoodPassword(input.password, email)
    const passwordHash = await inLine(input.visit.ip, () => passwords.hashPassword(input.password))
    const account = await accountLinks.useLink({ hash: hashToken(input.token), email, passwordHash })
    if (link.purpose === 'setup') onSetUp()
    return { account, isNew: link.purpose !== 'reset' }
  }

  return {
    createSetupLink,
    invite,
    sendReset,
    createResetLink,
    findLink,
    useLink,
    listLinks: async () =>
      keepIntact(await accountLinks.listLinks(), { open: withAddress, report: store.damage.report }),
    removeLink: accountLinks.removeLink,
  }
}
