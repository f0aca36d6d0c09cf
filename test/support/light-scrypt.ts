// Lowers the scrypt cost of backup passphrases: with age's own, each encryption or decryption takes a second
// of CPU time.

import { afterAll, beforeAll, spyOn } from 'bun:test'
import { Encrypter } from 'age-encryption'

const LEAST = 1

/**
 * Applies to the tests of a file or of the surrounding `describe`. Opening needs no change, because the
 * backup states its own cost.
 */
export function useLightScrypt(): void {
  let restore = () => {}
  beforeAll(() => {
    const { setPassphrase } = Encrypter.prototype
    const spy = spyOn(Encrypter.prototype, 'setPassphrase')
    spy.mockImplementation(function (this: Encrypter, passphrase) {
      setPassphrase.call(this, passphrase)
      this.setScryptWorkFactor(LEAST)
    })
    restore = () => spy.mockRestore()
  })
  afterAll(() => restore())
}
