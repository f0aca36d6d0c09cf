// Every page of this server by who may enter, and what each guard asks before a page sees anything.

import { DomainError } from '../../domain/errors.ts'
import type { Asked, Route } from '../door/router.ts'
import { type Form, readForm } from './frame/form.ts'
import { askToSignIn, type GetGuest, type Guest, type Member, requireFormToken } from './frame/guest.ts'
import type { Pages } from './pages.ts'

type Params = Asked['params']
type Answer = Response | Promise<Response>
type Show<G> = (guest: G, params: Params) => Answer
type Submit<G> = (guest: G, form: Form, params: Params) => Answer

export type PageRoutesOptions = {
  pages: Pages
  getGuest: GetGuest
  /** Without it only accounts may create. */
  anonymousAccess: boolean
}

export function createPageRoutes({ pages, getGuest, anonymousAccess }: PageRoutesOptions): Route[] {
  const anybody = (show: Show<Guest>): Route['answer'] => {
    return ({ exchange, params }) => show(getGuest(exchange), params)
  }
  const members = (show: Show<Member>) =>
    anybody((guest, params) => {
      const member = memberOf(guest)
      return member === null ? askToSignIn(guest) : show(member, params)
    })
  const admins = (show: Show<Member>) =>
    members((member, params) => {
      requireAdmin(member)
      return show(member, params)
    })
  const creators = anonymousAccess ? anybody : members
  /** A session may end while a form trickles in, so it is looked up again once the form is here. */
  const submit =
    (use: Submit<Member>): Show<Member> =>
    async ({ exchange }, params) => {
      const form = await readForm(exchange)
      const guest = getGuest(exchange)
      const member = memberOf(guest)
      if (member === null) return askToSignIn(guest)
      requireFormToken(member, form.text('form'))
      return use(member, form, params)
    }
  /** What gives power: the password must have been given in this session a moment ago. */
  const submitConfirmed = (use: Submit<Member>) =>
    submit(async (member, form, params) => (await pages.confirm(member, form)) ?? use(member, form, params))
  const administer = (use: Submit<Member>) =>
    admins(
      submitConfirmed((member, form, params) => {
        requireAdmin(member)
        return use(member, form, params)
      }),
    )

  return [
    // For everybody.
    get('/p/:url_token', anybody(pages.receive.show)),
    get('/p/:url_token/r', anybody(pages.receive.show)),
    post('/p/:url_token', anybody(pages.receive.reveal)),
    post('/p/:url_token/r', anybody(pages.receive.reveal)),
    post('/p/:url_token/expire', anybody(pages.receive.expire)),
    get('/p/:url_token/preview', anybody(pages.created)),
    get('/api', anybody(pages.previousApi)),
    get(
      '/sign-in',
      anybody((guest) => pages.signIn.show(guest)),
    ),
    // Whoever signs in again has a session whose token an older page does not carry.
    post('/sign-in', anybody(withForm(pages.signIn.signIn))),
    post('/sign-in/code', anybody(withForm(pages.signIn.confirm))),
    get('/sign-up', anybody(pages.welcome.showSignUp)),
    post('/sign-up', anybody(withForm(pages.welcome.signUp))),
    get('/welcome/:link', anybody(pages.welcome.show)),
    post('/welcome/:link', anybody(withForm(pages.welcome.useLink))),

    // For everybody, or for accounts where the instance is closed.
    get(
      '/',
      creators((guest) => pages.create.show(guest)),
    ),
    // Asks for an account itself, so that a form whose session has ended keeps what was typed.
    post('/', anybody(pages.create.create)),

    // For accounts.
    get('/pushes', members(pages.dashboard)),
    get('/pushes/:url_token', members(pages.push.show)),
    post('/pushes/:url_token/expire', members(submit(pages.push.expire))),
    post('/pushes/:url_token/unlock', members(submit(pages.push.unlock))),
    get('/pushes/:url_token/audit.csv', members(pages.push.exportCsv)),
    get('/pushes/:url_token/audit.json', members(pages.push.exportJson)),
    get('/users/token', members(pages.tokens.show)),
    post('/users/token', members(submitConfirmed(pages.tokens.create))),
    post('/users/token/revoke', members(submit(pages.tokens.revoke))),
    get('/account', members(pages.account.show)),
    post('/account/password', members(submit(pages.account.changePassword))),
    post('/account/sessions', members(submit(pages.account.endSession))),
    get('/account/two-factor', members(pages.twoFactor.show)),
    post('/account/two-factor', members(submitConfirmed(pages.twoFactor.turnOn))),
    post('/account/two-factor/off', members(submitConfirmed(pages.twoFactor.turnOff))),
    post('/sign-out', members(submit(pages.signIn.signOut))),

    // For administrators.
    get('/admin', admins(pages.admin.show)),
    post('/admin/invitations', administer(pages.admin.invite)),
    // Takes power away, and is wanted at once.
    post('/admin/invitations/:id/remove', admins(submit(pages.admin.withdraw))),
    post('/admin/accounts/:id/disable', administer(pages.admin.disable)),
    post('/admin/accounts/:id/enable', administer(pages.admin.enable)),
    post('/admin/accounts/:id/reset', administer(pages.admin.reset)),
    post('/admin/accounts/:id/remove', administer(pages.admin.remove)),
  ]
}

function get(path: string, answer: Route['answer']): Route {
  return { method: 'GET', path, access: 'open', answer }
}

function post(path: string, answer: Route['answer']): Route {
  return { method: 'POST', path, access: 'open', answer }
}

/** For forms that need no session: that another site did not send them is seen at the door. */
function withForm(use: Submit<Guest>): Show<Guest> {
  return async (guest, params) => use(guest, await readForm(guest.exchange), params)
}

function requireAdmin({ account }: Member): void {
  if (!account.isAdmin) throw new DomainError('forbidden', 'This page is for administrators.')
}

function memberOf(guest: Guest): Member | null {
  const { session } = guest
  return session === null ? null : { ...guest, session, account: session.account }
}
