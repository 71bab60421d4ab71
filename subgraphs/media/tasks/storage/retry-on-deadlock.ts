/** Most runs of one statement or transaction. */
const MAX_RUNS = 4;

/** Runs a statement or transaction again after a deadlock; any other error is thrown on. */
export async function retryOnDeadlock<Result>(run: () => Promise<Result>): Promise<Result> {
  for (let runs = 1; ; runs += 1) {
    try {
      return await run();
    } catch (error) {
      if (runs >= MAX_RUNS || !isSerializationFailure(error)) throw error;
    }
  }
}

/** Deadlock or serialization failure: PostgreSQL asks for the same transaction again. */
function isSerializationFailure(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === '40P01' || code === '40001';
}
