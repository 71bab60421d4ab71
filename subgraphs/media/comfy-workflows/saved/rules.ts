import { AppError, badInput } from '../../../../platform/errors.ts';
import { comfyWorkflows, type DeclaredInput, checkedGraph, type Graph, isLink } from '../comfy-workflows.ts';
import { checkedValue } from '../resolve.ts';
import { propose } from './propose.ts';
import {
  type Parameter,
  PARAMETER_TYPES,
  type Proposal,
  type Sent,
  type WorkflowDraft,
  type WorkflowOutput,
} from './workflow.ts';

/** What may be saved. Pure; each refusal names the field and what it takes. */

const NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const PARAMETER_NAME = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;
const MAX_INPUTS = 64;
const MAX_OUTPUTS = 16;
const MAX_PLACES = 64;
const MAX_VALUES = 500;
const MAX_TEXT = 2_000;
/** What callers may put before a name: `workflow/` is how models are told from graphs. */
const PREFIX = 'workflow/';

/** The name without the prefix that it has as a model. */
export function plainName(name: string): string {
  return name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name;
}

/** The name as a model. */
export function modelName(name: string): string {
  return `${PREFIX}${name}`;
}

/** A name that may be saved under. Those of the bundled workflows are taken. */
function checkedName(sent: string): string {
  const name = plainName(sent);
  if (!NAME.test(name)) {
    throw badInput('name', 'name must be 1 to 63 small letters, digits and hyphens, such as poster-maker');
  }
  if (comfyWorkflows.some((bundled) => bundled.name === name)) {
    throw new AppError('CONFLICT', `${name} is a workflow that comes with Kiln: choose another name`, {
      field: 'name',
    });
  }
  return name;
}

/** A draft with everything that it leaves open filled in. */
export function checkedDraft(draft: WorkflowDraft): Proposal & {
  readonly name: string;
  readonly graph: Graph;
  readonly description: string;
} {
  const name = checkedName(draft.name);
  const graph = inGraph(() => checkedGraph(draft.graph));
  const proposal = propose(graph);
  const { inputs, outputs, description } = draft;
  return {
    name,
    graph,
    description: checkedText('description', description ?? ''),
    inputs: inputs ? checkedParameters(graph, inputs) : proposal.inputs,
    outputs: outputs ? checkedOutputs(graph, outputs) : proposal.outputs,
  };
}

/** Refusals of a graph name `workflow`; here the argument is `graph`. */
export function inGraph<Value>(check: () => Value): Value {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof AppError) || error.field === undefined) throw error;
    throw badInput(error.field.replace(/^workflow/, 'graph'), error.message);
  }
}

function checkedParameters(graph: Graph, sent: readonly Sent<Parameter>[]): readonly Parameter[] {
  if (sent.length > MAX_INPUTS) throw badInput('inputs', `there may be at most ${MAX_INPUTS} inputs`);
  const inputs = sent.map((one, index) => checkedParameter(graph, one, `inputs[${index}]`));
  refuseRepeated('inputs', inputs);
  return inputs;
}

function checkedParameter(graph: Graph, sent: Sent<Parameter>, field: string): Parameter {
  const { name = '', type, at, values, description } = withoutNull(sent);
  if (!PARAMETER_NAME.test(name)) {
    throw badInput(`${field}.name`, `${field}.name must begin with a letter, and have letters, digits and _`);
  }
  if (type === undefined || !PARAMETER_TYPES.includes(type)) {
    throw badInput(`${field}.type`, `${field}.type must be one of ${PARAMETER_TYPES.join(', ')}`);
  }
  if (at === undefined || at.length === 0 || at.length > MAX_PLACES) {
    throw badInput(`${field}.at`, `${field}.at must name 1 to ${MAX_PLACES} places, as "<node id>.<input>"`);
  }
  for (const place of at) checkPlace(graph, place, `${field}.at`);
  if (values !== undefined && (type !== 'text' || values.length === 0 || values.length > MAX_VALUES)) {
    throw badInput(`${field}.values`, `${field}.values are 1 to ${MAX_VALUES} texts that a text may be`);
  }
  return {
    name,
    type,
    at,
    ...(values && { values }),
    ...checkedRange(sent, type, field),
    ...checkedDefault(sent, type, field),
    description: checkedText(`${field}.description`, description ?? ''),
  };
}

/** A place where the graph has a value, not what another node makes. */
function checkPlace(graph: Graph, place: string, field: string): void {
  const dot = place.indexOf('.');
  const [id, input] = [place.slice(0, dot), place.slice(dot + 1)];
  const node = dot > 0 && Object.hasOwn(graph, id) ? graph[id] : undefined;
  const there = node !== undefined && Object.hasOwn(node.inputs, input) ? node.inputs[input] : null;
  if (there === null || there === undefined) {
    throw badInput(field, `${field}: the graph has no input ${JSON.stringify(place.slice(0, 200))}`);
  }
  if (isLink(there)) {
    throw badInput(field, `${field}: ${place} comes from node ${there[0]}, it has no value of its own`);
  }
}

type Facts = Pick<Parameter, 'minimum' | 'maximum' | 'multipleOf'>;

function checkedRange(sent: Sent<Parameter>, type: Parameter['type'], field: string): Facts {
  const { minimum, maximum, multipleOf } = withoutNull(sent);
  const facts = { ...def({ minimum }), ...def({ maximum }), ...def({ multipleOf }) };
  if (Object.keys(facts).length === 0) return {};
  if (type !== 'integer' && type !== 'number') {
    throw badInput(field, `${field}: minimum, maximum and multipleOf are of numbers`);
  }
  if ((minimum ?? -Infinity) > (maximum ?? Infinity)) {
    throw badInput(`${field}.minimum`, `${field}.minimum must not be above maximum`);
  }
  if (multipleOf !== undefined && (multipleOf <= 0 || type !== 'integer' || !Number.isInteger(multipleOf))) {
    throw badInput(`${field}.multipleOf`, `${field}.multipleOf is a whole number above 0, of an integer`);
  }
  return facts;
}

function checkedDefault(
  sent: Sent<Parameter>,
  type: Parameter['type'],
  field: string,
): Pick<Parameter, 'default' | 'required'> {
  const given = sent.default ?? null;
  const required = sent.required ?? given === null;
  if (given === null) return { required };
  if (type === 'file') throw badInput(`${field}.default`, `${field}.default: a file has none`);
  const declared = { ...withoutNull(sent), type, required: false } as Omit<
    DeclaredInput,
    'at' | 'description'
  >;
  return { required, default: checkedValue(given, declared, `${field}.default`) };
}

function checkedOutputs(graph: Graph, sent: readonly Sent<WorkflowOutput>[]): readonly WorkflowOutput[] {
  if (sent.length === 0 || sent.length > MAX_OUTPUTS) {
    throw badInput('outputs', `there must be 1 to ${MAX_OUTPUTS} outputs`);
  }
  const outputs = sent.map((one, index) => {
    const field = `outputs[${index}]`;
    const { name = '', node = '', type = 'file' } = withoutNull(one);
    if (!PARAMETER_NAME.test(name)) {
      throw badInput(
        `${field}.name`,
        `${field}.name must begin with a letter, and have letters, digits and _`,
      );
    }
    if (!Object.hasOwn(graph, node))
      throw badInput(`${field}.node`, `${field}: the graph has no node ${node}`);
    if (!['image', 'video', 'audio', 'text', 'file'].includes(type)) {
      throw badInput(`${field}.type`, `${field}.type must be image, video, audio, text or file`);
    }
    return { name, node, type };
  });
  refuseRepeated('outputs', outputs);
  return outputs;
}

function refuseRepeated(field: string, all: readonly { readonly name: string }[]): void {
  const names = all.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw badInput(field, `${field}: there are two of the name ${twice}`);
}

function checkedText(field: string, text: string): string {
  if (text.length > MAX_TEXT) throw badInput(field, `${field} may have at most ${MAX_TEXT} characters`);
  return text;
}

type WithoutNull<Shape> = { readonly [Name in keyof Shape]: Exclude<Shape[Name], null> };

function withoutNull<Shape extends object>(shape: Shape): WithoutNull<Shape> {
  return Object.fromEntries(
    Object.entries(shape).filter(([, value]) => value !== null),
  ) as WithoutNull<Shape>;
}

function def<Shape extends object>(shape: Shape): Shape {
  return Object.fromEntries(Object.entries(shape).filter(([, value]) => value !== undefined)) as Shape;
}
