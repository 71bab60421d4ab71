import { openDatabase, type OldProduct } from './database.ts';
import { serve, type OldAnswer, type OldRequest } from './http.ts';
import { answerMedia } from './media.ts';
import { answerWorkflow } from './workflow.ts';

/**
 * An existing installation, written from the two API documents alone: `main.ts DATABASE_FILE PRODUCTS_JSON`. A process
 * with a database of its own; prints its addresses as one line of JSON. It answers GET /calls with all it was asked.
 */
const [file = ':memory:', products = '[]'] = process.argv.slice(2);
const database = openDatabase(file, JSON.parse(products) as readonly OldProduct[]);

/** A result: bytes that are a film to nobody. */
const film = { body: Buffer.alloc(2_000, 7), contentType: 'video/mp4' };

type Service = (database_: typeof database, request: OldRequest) => OldAnswer | null;

function answerWith(service: Service) {
  return (request: OldRequest): OldAnswer | null => {
    const { method, path, query, authorization } = request;
    if (path === '/calls') return { body: database.calls() };
    database.addCall(method, query.size === 0 ? path : `${path}?${query.toString()}`, authorization);
    return path.startsWith('/storage/') ? film : service(database, request);
  };
}

const media = await serve(answerWith(answerMedia));
const workflow = await serve(answerWith(answerWorkflow));
process.stdout.write(`${JSON.stringify({ media, workflow })}\n`);
process.once('SIGTERM', () => process.exit(0));
