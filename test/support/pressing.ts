// Presses in a browser, and what comes of them: the next page, or a word that the page shows for a moment.

import type { Locator, Page } from 'playwright-core'

/**
 * Does what leads to another page, and resolves once that page is there whole. A press alone ends before
 * that: what is read or counted at once may be of the page that is left, or of the first half of the next
 * one.
 */
export async function follow(page: Page, press: () => Promise<unknown>): Promise<void> {
  const arrives = page.waitForEvent('framenavigated', (frame) => frame === page.mainFrame())
  await Promise.all([arrives, press()])
  await page.waitForLoadState()
}

/**
 * The text of a copy button and of the live region for screen readers; `isTold`: whether the live region is
 * visible.
 */
export type Said = { label: string; told: string; isTold: boolean; isDone: boolean }

/**
 * Presses a button that copies, and resolves to what it says of that. It says so for two seconds, which a
 * busy machine may need to look for it: so the page itself takes it down.
 */
export async function hear(
  button: Locator,
  press: () => Promise<unknown> = () => button.click(),
): Promise<Said> {
  await button.evaluate((element) => {
    const status = document.querySelector('main > .told[role=status]')
    if (status === null) throw new Error('this page has nothing that copies')
    const heard = new Promise((resolve) => {
      new MutationObserver(() => {
        const told = status.textContent ?? ''
        if (told === '') return
        resolve({
          label: element.textContent?.trim(),
          told,
          isTold: !status.classList.contains('visually-hidden'),
          isDone: element.classList.contains('done'),
        })
      }).observe(status, { childList: true })
    })
    Object.assign(window, { heard })
  })
  await press()
  return button.page().evaluate('window.heard')
}
