// Passphrases of backups with hardly any work: that of age takes a second of a core, each time one is sealed
// or opened.

import { afterAll, beforeAll, spyOn } from 'bun:test'
import { Encrypter } from 'age-encryption'

const LEAST = 1

/**
 * For the tests of a file, or of the `describe` around it. Which work opens a backup stands in the backup.
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
