// Presses in a browser and their results: the next page, or a message that the page shows for a moment.

import type { Locator, Page } from 'playwright-core'

/**
 * Runs `press` and resolves once the next page is complete. A press alone resolves earlier, so that a check
 * could read the old page, or the first half of the new one.
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
 * Presses a copy button, and resolves to its message. The message is shown for two seconds, which a busy
 * machine may miss, so a script in the page records it.
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
