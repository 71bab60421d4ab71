/** What an import did, line by line, and its summary. */

/** What became of one thing. */
export type Outcome = 'taken over' | 'taken over, inactive' | 'already there' | 'conflict' | 'not taken over';

/** One thing of the old service. */
interface ReportLine {
  /** Such as `video template` or `payment`. */
  readonly kind: string;
  readonly id: string;
  readonly outcome: Outcome;
  readonly reasons: readonly string[];
}

/** Collects lines. */
export interface Report {
  add(line: ReportLine): void;
  /** A line for the file of WORKFLOW_NAMES. */
  addWorkflowName(name: string, suggested: string): void;
  /** Fields of one template that no operation of the old service answers. */
  addUnanswered(fields: readonly string[]): void;
  /** The whole report for people; `isStopped`: the import has not come to its end. */
  text(options?: { readonly isStopped: boolean }): string;
  /** Whether everything is here: nothing inactive, conflicting or left out. */
  isComplete(): boolean;
}

const outcomes: readonly Outcome[] = [
  'taken over',
  'taken over, inactive',
  'already there',
  'conflict',
  'not taken over',
];

/** Most things whose reasons are listed; the counts have all of them. */
const MAX_DETAILS = 5_000;

/** An empty report; `dryRun` says in its head that nothing was written. */
export function createReport({ dryRun }: { readonly dryRun: boolean }): Report {
  const counts = new Map<string, Map<Outcome, number>>();
  const details: ReportLine[] = [];
  const names = new Map<string, string>();
  const unanswered = new Map<string, number>();
  return {
    add(line) {
      const ofKind = counts.get(line.kind) ?? new Map<Outcome, number>();
      counts.set(line.kind, ofKind.set(line.outcome, (ofKind.get(line.outcome) ?? 0) + 1));
      if (line.reasons.length > 0 && details.length < MAX_DETAILS) details.push(line);
    },
    addWorkflowName: (name, suggested) => void names.set(name, suggested),
    addUnanswered(fields) {
      for (const field of fields) unanswered.set(field, (unanswered.get(field) ?? 0) + 1);
    },
    isComplete: () =>
      [...counts.values()].every((ofKind) =>
        [...ofKind.keys()].every((outcome) => outcome === 'taken over' || outcome === 'already there'),
      ),
    text: ({ isStopped } = { isStopped: false }) =>
      [
        dryRun ? 'Dry run: nothing was written. A real run would do this:' : 'Import:',
        ...(isStopped ? ['  stopped before its end; another run goes on'] : []),
        ...[...counts].map(([kind, ofKind]) => `  ${kind}s: ${countsText(ofKind)}`),
        ...details.flatMap(detailLines),
        ...(details.length < MAX_DETAILS ? [] : [`Only the first ${MAX_DETAILS} are listed.`]),
        ...[...unanswered].map(
          ([field, count]) =>
            `${field}: not answered by the old service, so not taken over (${count} templates)`,
        ),
        ...workflowNames(names),
      ].join('\n'),
  };
}

function countsText(ofKind: ReadonlyMap<Outcome, number>): string {
  const known = outcomes.filter((outcome) => ofKind.has(outcome));
  return known.map((outcome) => `${ofKind.get(outcome)} ${outcome}`).join(', ');
}

function detailLines({ kind, id, outcome, reasons }: ReportLine): readonly string[] {
  return [`${kind} ${id}: ${outcome}`, ...reasons.map((reason) => `    ${reason}`)];
}

function workflowNames(names: ReadonlyMap<string, string>): readonly string[] {
  if (names.size === 0) return [];
  return [
    'Workflow names that Kiln does not know. Say in the file of WORKFLOW_NAMES what each is here (image, video or comfy:NAME), restart, and import again:',
    JSON.stringify(Object.fromEntries(names), null, 2),
  ];
}
