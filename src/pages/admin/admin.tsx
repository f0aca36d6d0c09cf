// The administration page: accounts, invitations, settings and the state of the instance. Shows no pushes.

import type { AccountLinks } from '../../accounts/account-links.ts'
import type { Accounts } from '../../accounts/accounts.ts'
import type { People } from '../../accounts/people.ts'
import type { BackupStatus } from '../../backup/backups.ts'
import type { Account } from '../../domain/account.ts'
import { DomainError } from '../../domain/errors.ts'
import type { PushLimits } from '../../domain/new-push.ts'
import type { PageNonce } from '../../domain/page-nonce.ts'
import { PAGES } from '../../http/urls.ts'
import type { Authority } from '../../lan/certificate.ts'
import type { Webhooks } from '../../notices/webhooks.ts'
import type { Appearances } from '../../operating/appearance.ts'
import type { LookAtHealth } from '../../operating/health.ts'
import type { JobStatus } from '../../operating/jobs.ts'
import type { Status } from '../../operating/status.ts'
import type { PageNonces } from '../../pushes/page-seals.ts'
import type { WordKey } from '../../words/words.ts'
import type { MailPageOptions } from '../account/mail.tsx'
import { type Form, problemsIn, type RefusedForm } from '../frame/form.ts'
import { leadTo, type Member, type Params } from '../frame/guest.ts'
import { Contents } from '../frame/lists.tsx'
import { LocalhostNotice } from '../frame/localhost-notice.tsx'
import type { AnswerGuest } from '../frame/page.tsx'
import { Notice, ShownOnce } from '../frame/parts.tsx'
import { AuthorityPart } from '../trust/trust-page.tsx'
import { AppearanceCard, readAppearance } from './appearance.tsx'
import { Backups } from './backups.tsx'
import { Attention, Health, Nodes } from './health.tsx'
import { type AllCounts, MailCard, WebhookCard } from './notices.tsx'
import { backToPeople, Invitations, PeopleSection, readPeopleQuery } from './people.tsx'
import { type SettingInEffect, Settings, withAppearance } from './settings.tsx'

export type AdminPageOptions = {
  answer: AnswerGuest
  accounts: Accounts
  people: People
  accountLinks: AccountLinks
  nonces: PageNonces
  readStatus: () => Promise<Status>
  lookAtHealth: LookAtHealth
  listJobs: () => readonly JobStatus[]
  /** Returns the state of the backups; null if the server makes none. */
  readBackups: () => BackupStatus | null
  settings: readonly SettingInEffect[]
  appearance: Appearances
  webhooks: Webhooks
  limits: Pick<PushLimits, 'mail'>
  /** The certificate authority that devices have to trust; null without --tls auto. */
  authority: Authority | null
  /** Addresses of a reverse proxy on this machine that the operator should declare with --trusted-proxy. */
  listUndeclaredProxies: () => string[]
  countAllMessages: () => Promise<AllCounts>
} & Pick<MailPageOptions, 'mail'>

type AdminPageState = {
  link?: string
  linkFor?: string
  isSent?: boolean
  notice?: WordKey
  /** The refused form of an invitation. */
  invitation?: RefusedForm
  /** The refused form of the name, contact and notice. */
  refused?: RefusedForm
}

export function createAdminPages(options: AdminPageOptions) {
  const { answer, accounts, people, accountLinks, nonces, readStatus, lookAtHealth, listJobs } = options
  const { readBackups, settings, appearance, authority, listUndeclaredProxies, limits, webhooks } = options

  async function show(guest: Member, state: AdminPageState = {}) {
    const { link, linkFor = '', isSent = false, notice, invitation = null, refused = null } = state
    const { say } = guest
    const hasProblems = refused !== null || (invitation !== null && notice === undefined)
    const query = readPeopleQuery(guest)
    const [status, { findings }] = await Promise.all([readStatus(), lookAtHealth()])
    const [jobs, backups, counts] = [listJobs(), readBackups(), await options.countAllMessages()]
    const content = (
      <div class="indexed">
        <Index
          guest={guest}
          absent={[authority === null && 'authority', status.database === null && 'nodes']}
        />
        <div>
          <h1>{say('admin_title')}</h1>
          {link && (
            <>
              <ShownOnce id="link" label={say('created_link')} text={link} words={guest.words}>
                {say('admin_link', { email: linkFor })} {isSent && say('admin_link_sent')}
              </ShownOnce>
              <LocalhostNotice guest={guest} path={link.slice(guest.exchange.baseUrl.length)} />
            </>
          )}
          {notice && <Notice kind="plain">{say(notice)}</Notice>}
          <Attention
            {...{ guest, status, findings, jobs }}
            proxies={listUndeclaredProxies()}
            lacksBackups={status.database === null && backups === null}
            unprotected={await people.countUnprotectedAdmins()}
          />
          <PeopleSection
            guest={guest}
            listed={{ ...query, ...(await people.listPeople(query)) }}
            resetNonce={({ id }) => nonces.issue(resetSubject(id))}
          />
          <Invitations
            guest={guest}
            invitations={await accountLinks.listLinks()}
            nonce={nonces.issue(INVITE_SUBJECT)}
            refused={invitation}
            hasMail={limits.mail}
          />
          {authority && <AuthorityPart guest={guest} authority={authority} />}
          <Health guest={guest} status={status} jobs={jobs} />
          <Nodes database={status.database} words={guest.words} />
          <Backups guest={guest} status={backups} isOnServer={status.database !== null} />
          <MailCard {...{ guest, counts }} mail={options.mail} />
          <WebhookCard {...{ guest, counts, webhooks }} />
          <AppearanceCard {...{ guest, appearance, refused }} />
          <Settings guest={guest} settings={withAppearance(settings, appearance)} />
        </div>
      </div>
    )
    return answer(content, {
      guest,
      title: say('admin_title'),
      status: hasProblems ? 422 : 200,
      width: 'wide',
      languageSwitch: link === undefined,
    })
  }

  const linkTo = ({ exchange }: Member, token: string) =>
    `${exchange.baseUrl}${PAGES.welcome.href({ link: token })}`

  /**
   * Makes a form idempotent: reloading the page that shows a link sends the form again, which must not
   * replace the link. Resolves to a notice if the form was sent before or is too old.
   */
  async function once(
    form: Form,
    subject: string,
    work: (nonce: PageNonce | null) => Promise<Response>,
  ): Promise<Response | 'admin_link_again' | 'admin_stale'> {
    const text = form.text('nonce')
    const done = text === '' ? await work(null) : await nonces.press({ text, subject }, work)
    if (done instanceof Response) return done
    return done === 'used' ? 'admin_link_again' : 'admin_stale'
  }

  async function invite(guest: Member, form: Form): Promise<Response> {
    const done = await once(form, INVITE_SUBJECT, (nonce) => makeInvitation(guest, form, nonce))
    if (done instanceof Response) return done
    if (done === 'admin_link_again') return show(guest, { notice: done })
    return show(guest, { notice: done, invitation: { form, problems: {} } })
  }

  async function makeInvitation(guest: Member, form: Form, nonce: PageNonce | null) {
    const email = form.text('email')
    const isSent = form.isTicked('send') && limits.mail
    const mailIn = isSent ? guest.words.language : null
    const wanted = { email, isAdmin: form.isTicked('is_admin'), mailIn }
    try {
      const token = await accountLinks.invite({ ...wanted, nonce, ...actorOf(guest) })
      return show(guest, { link: linkTo(guest, token), linkFor: email.trim(), isSent })
    } catch (cause) {
      return show(guest, { invitation: { form, problems: problemsIn(cause) } })
    }
  }

  async function withdraw(guest: Member, _form: Form, { id = '' }: Params): Promise<Response> {
    await accountLinks.removeLink(Number(id))
    return backToPeople(guest)
  }

  /** Throws `forbidden` for the administrator's own account, because they could lock themselves out. */
  async function requireOther(guest: Member, { id = '' }: Params): Promise<Account> {
    const account = /^\d{1,15}$/.test(id) ? await accounts.findById(Number(id)) : null
    if (account === null) throw new DomainError('not_found', 'not-found')
    if (account.id === guest.account.id)
      throw new DomainError('forbidden', 'Another administrator has to change your account.')
    return account
  }

  /** Handles a button that changes another person's account. */
  const changeOther =
    (change: (email: string) => Promise<void>) =>
    async (guest: Member, _form: Form, params: Params): Promise<Response> => {
      await change((await requireOther(guest, params)).email)
      return backToPeople(guest)
    }

  /** Creates a link to choose a new password. Keeps the second factor, unless the form turns it off too. */
  async function reset(guest: Member, form: Form, params: Params): Promise<Response> {
    const account = await requireOther(guest, params)
    const done = await once(form, resetSubject(account.id), async (nonce) => {
      const endsTwoFactor = form.isTicked('two_factor')
      const token = await accountLinks.createResetLink(account, { endsTwoFactor, nonce, ...actorOf(guest) })
      return show(guest, { link: linkTo(guest, token), linkFor: account.email })
    })
    return done instanceof Response ? done : show(guest, { notice: done })
  }

  async function remove(guest: Member, form: Form, params: Params): Promise<Response> {
    const account = await requireOther(guest, params)
    if (form.isTicked('sure')) await accounts.removeAccount(account.email, { keepAdmin: true })
    return backToPeople(guest)
  }

  async function changeAppearance(guest: Member, form: Form): Promise<Response> {
    try {
      await appearance.change(readAppearance(form))
      return leadTo(guest, `${PAGES.admin.href()}#appearance`)
    } catch (cause) {
      return show(guest, { refused: { form, problems: problemsIn(cause) } })
    }
  }

  return {
    show: (guest: Member) => show(guest),
    ...{ invite, withdraw, reset, remove, changeAppearance },
    disable: changeOther((email) => accounts.disableAccount(email, { keepAdmin: true })),
    enable: changeOther(accounts.enableAccount),
    service: changeOther((email) => accounts.setService(email, true)),
    person: changeOther((email) => accounts.setService(email, false)),
    promote: changeOther(accounts.makeAdmin),
    demote: changeOther(accounts.unmakeAdmin),
  }
}

/** The headings, by the ids of their parts. */
const PARTS = {
  people: 'admin_people',
  invite: 'admin_invite',
  authority: 'authority_title',
  health: 'admin_health',
  nodes: 'admin_nodes',
  backups: 'backups_title',
  mail: 'mail_title',
  webhooks: 'webhooks_title',
  appearance: 'appearance_title',
  settings: 'admin_settings',
} as const

/** `absent`: parts that this server does not have. */
function Index({ guest: { say }, absent }: { guest: Member; absent: (string | false)[] }) {
  return (
    <Contents label={say('contents')}>
      {Object.entries(PARTS).map(
        ([id, title]) => !absent.includes(id) && <a href={`#${id}`}>{say(title)}</a>,
      )}
    </Contents>
  )
}

const INVITE_SUBJECT = 'admin/invite'
const resetSubject = (accountId: number) => `admin/reset/${accountId}`

function actorOf({ account, session }: Member) {
  return { by: account, session: session.session.id }
}
