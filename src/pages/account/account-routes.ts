// The pages where people sign in, and those of an account itself.

import type { Route } from '../../http/door/router.ts'
import { PAGES } from '../../http/urls.ts'
import type { PageGuards } from '../page-guards.ts'
import { type AccountPageOptions, createAccountPages } from './account.tsx'
import { createListExport, type ListExportOptions } from './list-export.ts'
import { createMessagePages, type MessagePageOptions } from './message.tsx'
import { createSignInPages, type SignInPageOptions } from './sign-in.tsx'
import { createTokenPages, type TokenPageOptions } from './tokens.tsx'
import { createTwoFactorPages } from './two-factor.tsx'
import { createWelcomePages, type WelcomePageOptions } from './welcome.tsx'

export type AccountRoutesOptions = AccountPageOptions &
  ListExportOptions &
  MessagePageOptions &
  SignInPageOptions &
  TokenPageOptions &
  Omit<WelcomePageOptions, 'enterAfter'>

export function createAccountRoutes(guards: PageGuards, options: AccountRoutesOptions): Route[] {
  const signIn = createSignInPages(options)
  const account = createAccountPages(options)
  return [
    ...createEntranceRoutes(guards, signIn, options),
    ...createMemberRoutes(guards, account, options),
    guards.form(PAGES.signOut, signIn.signOut),
  ]
}

type SignInPages = ReturnType<typeof createSignInPages>

/** These forms carry no form token, because a page opened before a new sign-in has the token of the old session. */
function createEntranceRoutes(
  { guest, guestForm }: PageGuards,
  signIn: SignInPages,
  options: AccountRoutesOptions,
): Route[] {
  const welcome = createWelcomePages({ ...options, enterAfter: signIn.enterAfter })
  return [
    guest(PAGES.signIn, (visitor) => signIn.show(visitor)),
    guestForm(PAGES.submitSignIn, signIn.signIn),
    guestForm(PAGES.submitCode, signIn.confirm),
    guest(PAGES.signUp, welcome.showSignUp),
    guestForm(PAGES.submitSignUp, welcome.signUp),
    guest(PAGES.welcome, welcome.show),
    guestForm(PAGES.submitWelcome, welcome.useLink),
  ]
}

type AccountPages = ReturnType<typeof createAccountPages>

function createMemberRoutes(
  { member, form, confirmedForm }: PageGuards,
  account: AccountPages,
  options: AccountRoutesOptions,
): Route[] {
  const tokens = createTokenPages(options)
  const message = createMessagePages(options)
  const { saveCsv, saveJson } = createListExport(options)
  const twoFactor = createTwoFactorPages({ ...options, showAccount: account.showAgain })
  return [
    member(PAGES.tokens, tokens.show),
    confirmedForm(PAGES.createToken, tokens.create),
    form(PAGES.revokeToken, tokens.revoke),
    member(PAGES.account, account.show),
    form(PAGES.changePassword, account.changePassword),
    form(PAGES.endSession, account.endSession),
    member(PAGES.listCsv, saveCsv),
    member(PAGES.listJson, saveJson),
    member(PAGES.message, message.show),
    form(PAGES.keepMessage, message.keep),
    member(PAGES.twoFactor, twoFactor.show),
    confirmedForm(PAGES.turnOnTwoFactor, twoFactor.turnOn),
    confirmedForm(PAGES.turnOffTwoFactor, twoFactor.turnOff),
  ]
}
