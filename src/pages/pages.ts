// The table of pages: each URL with what shows or does it, and with the guard that is enforced before.

import type { Sessions } from '../accounts/sessions.ts'
import type { Route } from '../http/door/router.ts'
import { FILES, PAGES } from '../http/urls.ts'
import { type AccountPageOptions, createAccountPages } from './account/account.tsx'
import { createConfirm } from './account/confirm.tsx'
import { createMessagePages, type MessagePageOptions } from './account/message.tsx'
import { createSignInPages, type SignInPageOptions } from './account/sign-in.tsx'
import { createTokenPages, type TokenPageOptions } from './account/tokens.tsx'
import { createTwoFactorPages } from './account/two-factor.tsx'
import { createWebhookPages, type WebhookPageOptions } from './account/webhooks.tsx'
import { createWelcomePages, type WelcomePageOptions } from './account/welcome.tsx'
import { type AdminPageOptions, createAdminPages } from './admin/admin.tsx'
import { type BackUpOptions, createBackUp } from './admin/backups.tsx'
import { createShowFirstSteps, type FirstStepsOptions } from './admin/first-steps.tsx'
import { type AcceptClock, createAcceptClock } from './admin/health.tsx'
import { readForm } from './frame/form.ts'
import type { GetGuest } from './frame/guest.ts'
import type { AnswerGuest } from './frame/page.tsx'
import { createDashboard, type DashboardOptions } from './owner/dashboard.tsx'
import { createExports, type ExportOptions } from './owner/exports.ts'
import { createPushPages, type PushPageOptions } from './owner/push-page.tsx'
import { createPageGuards, type PageGuards } from './page-guards.ts'
import { createReceivePages, type ReceivePageOptions } from './receive/receive.tsx'
import { type AnswerPagesOptions, createAnswerPages } from './requests/answer.tsx'
import { createRequestPages, type RequestPagesOptions } from './requests/requests.tsx'
import { type CreatePageOptions, createCreatePage } from './share/create/create.tsx'
import { type CreatedPageOptions, createCreatedPage } from './share/created.tsx'
import { createAnswerAuthority, createTrustPage, type TrustPageOptions } from './trust/trust-page.tsx'

export type PagesOptions = ReceivePageOptions &
  CreatePageOptions &
  CreatedPageOptions &
  DashboardOptions &
  PushPageOptions &
  AccountPageOptions &
  ExportOptions &
  MessagePageOptions &
  SignInPageOptions &
  TokenPageOptions &
  WebhookPageOptions &
  Omit<WelcomePageOptions, 'enterAfter'> &
  AdminPageOptions &
  FirstStepsOptions &
  BackUpOptions &
  RequestPagesOptions &
  AnswerPagesOptions &
  TrustPageOptions & {
    acceptClock: AcceptClock
    answer: AnswerGuest
    getGuest: GetGuest
    sessions: Sessions
    /** Without it only accounts may create. */
    anonymousAccess: boolean
  }

export function createPageRoutes(options: PagesOptions): Route[] {
  const guards = createPageGuards({ ...options, confirm: createConfirm(options) })
  return [
    ...receiveRoutes(guards, options),
    ...shareRoutes(guards, options),
    ...ownerRoutes(guards, options),
    ...requestRoutes(guards, options),
    ...signInRoutes(guards, options),
    ...accountRoutes(guards, options),
    ...adminRoutes(guards, options),
    guards.guest(PAGES.trust, createTrustPage(options)),
    { url: FILES.authority, answer: createAnswerAuthority(options) },
  ]
}

/** The pages of a secret link. */
function receiveRoutes({ guest, guestForm }: PageGuards, options: PagesOptions): Route[] {
  const { show, reveal, expire, saveText } = createReceivePages(options)
  return [
    guest(PAGES.receive, show),
    guest(PAGES.receiveStep, show),
    guestForm(PAGES.reveal, reveal),
    guestForm(PAGES.revealStep, reveal),
    guestForm(PAGES.expire, expire),
    // Holds the text itself, so that it is saved while the store is away, too.
    { url: PAGES.saveText, answer: async ({ exchange }) => saveText(await readForm(exchange)) },
  ]
}

/** The pages of somebody who shares something. */
function shareRoutes({ guest, patientForm }: PageGuards, options: PagesOptions): Route[] {
  const { show, create, refuseUnknown, share } = createCreatePage(options)
  return [
    guest(PAGES.create, (visitor) => show(visitor)),
    patientForm(PAGES.submitCreate, { use: (visitor) => create(visitor), refuse: refuseUnknown }),
    patientForm(PAGES.share, { use: (visitor) => share(visitor), refuse: share }),
    guest(PAGES.created, createCreatedPage(options)),
  ]
}

/** The pages of an account's own pushes. */
function ownerRoutes({ member, form }: PageGuards, options: PagesOptions): Route[] {
  const list = createDashboard(options)
  const { show, expire, unlock, edit } = createPushPages(options)
  const { saveList, saveLog } = createExports(options)
  return [
    member(PAGES.pushes, list.show),
    form(PAGES.changePushes, list.change),
    member(PAGES.push, show),
    form(PAGES.editPush, edit),
    form(PAGES.expireOwn, expire),
    form(PAGES.unlock, unlock),
    member(PAGES.auditCsv, saveLog('csv')),
    member(PAGES.auditJson, saveLog('json')),
    member(PAGES.listCsv, saveList('csv')),
    member(PAGES.listJson, saveList('json')),
  ]
}

/** The pages of an account's requests, and of somebody who has the link of one. */
function requestRoutes({ guest, member, form }: PageGuards, options: PagesOptions): Route[] {
  const { showAll, ask, show, close } = createRequestPages(options)
  const answering = createAnswerPages(options)
  return [
    member(PAGES.requests, showAll),
    form(PAGES.ask, ask),
    member(PAGES.request, show),
    form(PAGES.closeRequest, close),
    guest(PAGES.answer, answering.show),
    // Reads a body of its own, with files.
    guest(PAGES.submitAnswer, answering.send),
  ]
}

/**
 * These forms carry no form token, because a page opened before a new sign-in has the token of the old
 * session.
 */
function signInRoutes({ guest, guestForm, form }: PageGuards, options: PagesOptions): Route[] {
  const signIn = createSignInPages(options)
  const welcome = createWelcomePages({ ...options, enterAfter: signIn.enterAfter })
  return [
    guest(PAGES.signIn, (visitor) => signIn.show(visitor)),
    guestForm(PAGES.submitSignIn, signIn.signIn),
    guestForm(PAGES.submitCode, signIn.confirm),
    guest(PAGES.forgot, (visitor) => signIn.showForgot(visitor)),
    guestForm(PAGES.submitForgot, signIn.sendReset),
    guest(PAGES.signUp, welcome.showSignUp),
    guestForm(PAGES.submitSignUp, welcome.signUp),
    guest(PAGES.welcome, welcome.show),
    guestForm(PAGES.submitWelcome, welcome.useLink),
    form(PAGES.signOut, signIn.signOut),
  ]
}

/** The pages of an account itself. */
function accountRoutes({ member, form, confirmedForm }: PageGuards, options: PagesOptions): Route[] {
  const account = createAccountPages(options)
  const tokens = createTokenPages(options)
  const message = createMessagePages(options)
  const webhooks = createWebhookPages(options)
  const twoFactor = createTwoFactorPages({ ...options, showAccount: account.showAgain })
  return [
    member(PAGES.tokens, tokens.show),
    confirmedForm(PAGES.createToken, tokens.create),
    form(PAGES.revokeToken, tokens.revoke),
    member(PAGES.account, account.show),
    form(PAGES.changePassword, account.changePassword),
    form(PAGES.endSession, account.endSession),
    form(PAGES.keepMailWishes, account.keepMailWishes),
    form(PAGES.testMail, account.testMail),
    member(PAGES.message, message.show),
    form(PAGES.keepMessage, message.keep),
    member(PAGES.webhooks, webhooks.show),
    confirmedForm(PAGES.addWebhook, webhooks.add),
    form(PAGES.removeWebhook, webhooks.remove),
    form(PAGES.testWebhook, webhooks.test),
    member(PAGES.twoFactor, twoFactor.show),
    confirmedForm(PAGES.turnOnTwoFactor, twoFactor.turnOn),
    confirmedForm(PAGES.turnOffTwoFactor, twoFactor.turnOff),
    // Asks for the password, because whoever names another key reads what arrives from then on.
    confirmedForm(PAGES.keepRecipient, account.keepRecipient),
  ]
}

/** The pages of administrators. */
function adminRoutes({ member, form, confirmedForm }: PageGuards, options: PagesOptions): Route[] {
  const { show, invite, withdraw, disable, enable, promote, demote, reset, remove, changeAppearance } =
    createAdminPages(options)
  const webhooks = createWebhookPages(options, 'everybody')
  return [
    member(PAGES.admin, show),
    member(PAGES.allWebhooks, webhooks.show),
    confirmedForm(PAGES.addAllWebhook, webhooks.add),
    form(PAGES.removeAllWebhook, webhooks.remove),
    form(PAGES.testAllWebhook, webhooks.test),
    member(PAGES.firstSteps, createShowFirstSteps(options)),
    confirmedForm(PAGES.invite, invite),
    // Does not ask for the password, because it only takes access away, and may be urgent.
    form(PAGES.withdrawInvitation, withdraw),
    confirmedForm(PAGES.disableAccount, disable),
    confirmedForm(PAGES.enableAccount, enable),
    confirmedForm(PAGES.promoteAccount, promote),
    confirmedForm(PAGES.demoteAccount, demote),
    confirmedForm(PAGES.resetAccount, reset),
    confirmedForm(PAGES.removeAccount, remove),
    confirmedForm(PAGES.changeAppearance, changeAppearance),
    // Asks for the password, because pushes that have ended by this clock are destroyed then.
    confirmedForm(PAGES.acceptClock, createAcceptClock(options.acceptClock)),
    // Makes room for the new one by removing the oldest.
    confirmedForm(PAGES.backUp, createBackUp(options)),
  ]
}
