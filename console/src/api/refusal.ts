/** What the server has refused outside of Apollo Client: its own words, and its code where it has told one. */
export class Refusal extends Error {
  readonly code: string;

  constructor(message: string, code = '') {
    super(message);
    this.name = 'Refusal';
    this.code = code;
  }
}
