// Redirects links of older servers, and links with a language prefix, to the same page here.

import { DomainError } from '../domain/errors.ts'
import { answerMoved, answerSeeOther } from '../http/answers.ts'
import { pathOf } from '../http/door/paths.ts'
import type { Route } from '../http/door/router.ts'
import { type Endpoint, MOVED, moved, PAGES, type Redirect } from '../http/urls.ts'
import { LANGUAGE_PARAMETER } from './frame/guest.ts'

const ALL_PAGES: readonly Endpoint[] = Object.values(PAGES)

/**
 * The URLs of forms that have no page of their own. A browser requests them with GET after a refused form, on
 * a reload or a change of language. They redirect to the page with the form, whose guard decides who may see
 * it.
 */
const FORM_ADDRESSES: readonly Redirect[] = ALL_PAGES.filter(
  ({ path, method }) =>
    method === 'POST' && path !== PAGES.providerLogout.path && findPage(path) === undefined,
).flatMap((form) => moved((urlToken) => pageAbove(form).replace(':url_token', urlToken), form))

type PagesOn = { mail: boolean; signups: boolean }

/** Redirects keep the query of the request, and turn the language of the path into a query parameter. */
export function createMovedRoutes(basePath: string, { mail, signups }: PagesOn): Route[] {
  const absent = new Set([...(mail ? [] : [PAGES.forgot.href()]), ...(signups ? [] : [PAGES.signUp.href()])])
  // If resets or sign-ups are off, redirect to the sign-in page, which explains how to get an account or a
  // new password.
  const served = MOVED.map((url) => (absent.has(url.to('')) ? { ...url, to: PAGES.signIn.href } : url))
  return redirect(served, (path) => answerMoved(`${basePath}${path}`))
}

/** Redirects a GET of a form's URL to the page of that form, and keeps the query. */
export function createFormAddressRoutes(basePath: string): Route[] {
  return redirect(FORM_ADDRESSES, (path) => answerSeeOther(`${basePath}${path}`))
}

/**
 * Returns the path of the nearest page above the form that has the same guard. The sign-out form, which every
 * page has, redirects to the account page.
 */
function pageAbove({ path, guard }: Pick<Endpoint, 'path' | 'guard'>): string {
  if (path === '/') return PAGES.account.path
  if (/^.account.(mail|webhooks)$/.test(path)) return PAGES.notices.path
  const above = path.slice(0, path.lastIndexOf('/')) || '/'
  return findPage(above)?.guard === guard ? above : pageAbove({ path: above, guard })
}

function findPage(path: string): Endpoint | undefined {
  return ALL_PAGES.find((page) => page.method === 'GET' && page.path === path)
}

function redirect(all: readonly Redirect[], answer: (path: string) => Response): Route[] {
  return all.map(({ to, ...url }) => ({
    url,
    answer: ({ exchange: { request }, params: { locale = null, url_token = 'none' } }) => {
      // The path of an older server may hold anything. Refuse a text that cannot be a token.
      if (!/^[\w-]+$/.test(url_token)) throw new DomainError('not_found', 'not-found')
      return answer(`${to(url_token)}${queryWith(locale, request.url)}`)
    },
  }))
}

/** Returns the query of the request, with the language of the path in place of any other. */
function queryWith(locale: string | null, url: string): string {
  const path = pathOf(url)
  const query = url.slice(url.indexOf(path) + path.length)
  if (locale === null) return query
  const others = query
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '' && pair.split('=', 1)[0] !== LANGUAGE_PARAMETER)
  return `?${[...others, `${LANGUAGE_PARAMETER}=${locale}`].join('&')}`
}
