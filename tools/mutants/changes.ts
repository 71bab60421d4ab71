import { parseSync, Visitor, type Expression } from 'oxc-parser';

/** One semantic change of a source file: the text between two offsets is replaced. */
export interface Change {
  readonly file: string;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  /** What it does, for people. */
  readonly operator: string;
}

/** Operators and what they become. */
const SWAPPED: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '&&': '||',
  '||': '&&',
  '+': '-',
  '*': '/',
};

/** Numbers up to here are counts, places in a list: one more of them is something else. */
const LARGE = 100;

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Every change that can be made to a file: swapped operators, other conditions and literals, statements that are left out. */
export function findChanges(file: string, source: string): readonly Change[] {
  const changes: Change[] = [];
  const sliceText = ({ start, end }: Span): string => source.slice(start, end);
  const add = ({ start, end }: Span, replacement: string, operator: string): void => {
    // A default of 0 is one already.
    if (replacement !== sliceText({ start, end })) changes.push({ file, start, end, replacement, operator });
  };
  const swap = ({ left, right, operator }: { left: Span; right: Span; operator: string }): void => {
    const between = { start: left.end, end: right.start };
    const other = SWAPPED[operator];
    const at = sliceText(between).indexOf(operator);
    if (other === undefined || at === -1) return;
    const start = between.start + at;
    add({ start, end: start + operator.length }, other, `${operator} becomes ${other}`);
  };
  const negate = (test: Expression): void =>
    add(test, `!(${sliceText(test)})`, 'the condition is the opposite');
  /** Numbers and booleans are changed as literals. */
  const otherDefault = (value: Expression): void => {
    if (value.type === 'Literal' && typeof value.value === 'number') add(value, '0', 'another default');
    if (value.type === 'Literal' && typeof value.value === 'string') add(value, `'other'`, 'another default');
    if (value.type === 'ArrowFunctionExpression')
      add(value, '() => undefined as never', 'a default that does nothing');
    if (value.type === 'ArrayExpression' && value.elements.length > 0) add(value, '[]', 'an empty default');
  };
  const visitor = new Visitor({
    BinaryExpression: swap,
    LogicalExpression(node) {
      swap(node);
      if (node.operator === '??') add(node, sliceText(node.right), 'only the default is left');
    },
    IfStatement(node) {
      negate(node.test);
      if (node.alternate === null) add(node, '', 'the branch is left out');
      else add(node.alternate, '{}', 'the other branch is left out');
    },
    ConditionalExpression: (node) => negate(node.test),
    WhileStatement: (node) => negate(node.test),
    // `a = 5`, `{ a = 5 }`: the default alone. One that names something else is changed where that is.
    AssignmentPattern: ({ right }) => otherDefault(right),
    Property: (node) => {
      if (node.kind === 'init' && node.value.type === 'Literal') otherDefault(node.value);
    },
    ReturnStatement(node) {
      // Nothing is returned by `return undefined` already.
      const isNothing = node.argument?.type === 'Identifier' && node.argument.name === 'undefined';
      if (node.argument !== null && !isNothing) add(node, 'return;', 'nothing is returned');
      else add(node, ';', 'the return is left out');
    },
    ThrowStatement: (node) => add(node, ';', 'the throw is left out'),
    SpreadElement: (node) => add(node, '...[]', 'nothing is spread'),
    ExpressionStatement(node) {
      if (node.expression.type !== 'Literal') add(node, ';', 'the statement is left out');
    },
    Literal(node) {
      const { value } = node;
      // One millisecond or byte more of many is as good as equivalent.
      if (typeof value === 'number' && value <= LARGE) add(node, String(value + 1), 'one more');
      if (typeof value === 'boolean') add(node, String(!value), 'the other boolean');
    },
  });
  visitor.visit(parseSync(file, source).program);
  return changes;
}

/** The file with the change made. */
export function changed(source: string, { start, end, replacement }: Change): string {
  return source.slice(0, start) + replacement + source.slice(end);
}

/** The line of a change, from 1. */
export function countLines(source: string, { start }: Change): number {
  return source.slice(0, start).split('\n').length;
}
