/** Whether `npm run test:all` asks: the whole of what `npm test` tries a sample of. */
const isWhole = process.env['TEST_EXTENT'] === 'whole';

/** How much a test tries: the sample in `npm test`, the whole in `npm run test:all`. */
export function extent<Amount>(sample: Amount, whole: Amount): Amount {
  return isWhole ? whole : sample;
}
