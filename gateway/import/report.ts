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
  /** The whole report for people. */
  text(): string;
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

/** An empty report; `dryRun` says in its head that nothing was written. */
export function createReport({ dryRun }: { readonly dryRun: boolean }): Report {
  const lines: ReportLine[] = [];
  const names = new Map<string, string>();
  return {
    add: (line) => void lines.push(line),
    addWorkflowName: (name, suggested) => void names.set(name, suggested),
    isComplete: () => lines.every(({ outcome }) => outcome === 'taken over' || outcome === 'already there'),
    text: () =>
      [
        dryRun ? 'Dry run: nothing was written. A real run would do this:' : 'Import finished.',
        ...summary(lines),
        ...details(lines),
        ...workflowNames(names),
      ].join('\n'),
  };
}

function summary(lines: readonly ReportLine[]): readonly string[] {
  const kinds = [...new Set(lines.map(({ kind }) => kind))];
  return kinds.map((kind) => {
    const ofKind = lines.filter((line) => line.kind === kind);
    const counts = outcomes.flatMap((outcome) => {
      const count = ofKind.filter((line) => line.outcome === outcome).length;
      return count === 0 ? [] : [`${count} ${outcome}`];
    });
    return `  ${kind}s: ${counts.join(', ')}`;
  });
}

function details(lines: readonly ReportLine[]): readonly string[] {
  const worth = lines.filter(({ reasons }) => reasons.length > 0);
  return worth.flatMap(({ kind, id, outcome, reasons }) => [
    `${kind} ${id}: ${outcome}`,
    ...reasons.map((reason) => `    ${reason}`),
  ]);
}

function workflowNames(names: ReadonlyMap<string, string>): readonly string[] {
  if (names.size === 0) return [];
  return [
    'Workflow names that Kiln does not know. Say in the file of WORKFLOW_NAMES what each is here (image, video or comfy:NAME), restart, and import again:',
    JSON.stringify(Object.fromEntries(names), null, 2),
  ];
}
