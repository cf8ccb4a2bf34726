import {
  type CSSVariablesResolver,
  createTheme,
  defaultVariantColorsResolver,
  type MantineColorsTuple,
  type VariantColorsResolver,
} from '@mantine/core';

const ink: MantineColorsTuple = [
  '#eff3ff',
  '#dfe7fe',
  '#bfcdfc',
  '#97adf8',
  '#6e89f1',
  '#4c69e8',
  '#3350d6',
  '#2a41b3',
  '#243789',
  '#1c2a63',
];

const dark: MantineColorsTuple = [
  '#eceef2',
  '#b6bdc9',
  '#939cab',
  '#6b7484',
  '#3a404c',
  '#2c313a',
  '#1a1d23',
  '#121418',
  '#0f1114',
  '#0c0e11',
];

const height: Record<string, string> = { xs: '28px', sm: '32px', md: '40px', lg: '44px' };
const control = (size: string | number | undefined) => height[String(size ?? 'sm')];

/** Secondary controls stay neutral whatever the primary colour is; colour is kept for the one main action. */
const variants: VariantColorsResolver = (input) => {
  if (input.variant === 'subtle') {
    return {
      background: 'transparent',
      hover: 'var(--c-press)',
      hoverColor: 'var(--c-text)',
      color: 'var(--c-text-2)',
      border: '1px solid transparent',
    };
  }
  return defaultVariantColorsResolver(input);
};

export const theme = createTheme({
  variantColorResolver: variants,
  primaryColor: 'ink',
  primaryShade: { light: 6, dark: 5 },
  colors: { ink, dark },
  fontFamily: 'var(--font-ui)',
  fontFamilyMonospace: 'var(--font-mono)',
  headings: { fontFamily: 'var(--font-ui)', fontWeight: '600' },
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.25rem' },
  lineHeights: { xs: '1.333', sm: '1.54', md: '1.43', lg: '1.5', xl: '1.4' },
  spacing: { xs: '4px', sm: '8px', md: '12px', lg: '16px', xl: '24px' },
  radius: { xs: '4px', sm: '6px', md: '6px', lg: '10px', xl: '16px' },
  defaultRadius: 'sm',
  breakpoints: { xs: '30em', sm: '40em', md: '60em', lg: '75em', xl: '90em' },
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Button: {
      defaultProps: { size: 'sm' },
      vars: (_: unknown, props: { size?: string }) => ({
        root: {
          '--button-height': control(props.size),
          '--button-padding-x': props.size === 'xs' ? '10px' : props.size === 'md' || props.size === 'lg' ? '16px' : '12px',
          '--button-fz': props.size === 'md' || props.size === 'lg' ? '0.875rem' : '0.8125rem',
        },
      }),
      styles: { root: { fontWeight: 500 }, section: { marginInlineEnd: 6 } },
    },
    ActionIcon: {
      defaultProps: { variant: 'subtle', color: 'gray', size: 28 },
    },
    TextInput: { defaultProps: { size: 'sm' } },
    Textarea: { defaultProps: { size: 'sm' } },
    Select: { defaultProps: { size: 'sm', checkIconPosition: 'right' } },
    Input: {
      vars: (_: unknown, props: { size?: string }) => ({
        wrapper: {
          '--input-height': control(props.size),
          '--input-fz': props.size === 'md' || props.size === 'lg' ? '0.875rem' : '0.8125rem',
        },
      }),
    },
    InputWrapper: {
      defaultProps: { inputWrapperOrder: ['label', 'input', 'description', 'error'] },
      styles: { label: { fontSize: '0.8125rem', fontWeight: 500, marginBottom: 4 }, description: { color: 'var(--c-text-3)' } },
    },
    Checkbox: { defaultProps: { size: 'xs', radius: 'xs' } },
    Switch: { defaultProps: { size: 'xs', withThumbIndicator: false } },
    Tooltip: { defaultProps: { openDelay: 350, withArrow: false, fz: 'xs', radius: 'sm' } },
    Menu: { defaultProps: { shadow: 'none', radius: 'lg', offset: 4, width: 220 } },
    Drawer: { defaultProps: { overlayProps: { color: 'transparent', backgroundOpacity: 0 } } },
    Kbd: { defaultProps: { size: 'xs' } },
  },
});

const shared = {
  '--mantine-color-body': 'var(--c-canvas)',
  '--mantine-color-text': 'var(--c-text)',
  '--mantine-color-dimmed': 'var(--c-text-3)',
  '--mantine-color-placeholder': 'var(--c-text-3)',
  '--mantine-color-default': 'var(--c-raised)',
  '--mantine-color-default-hover': 'var(--c-hover)',
  '--mantine-color-default-color': 'var(--c-text)',
  '--mantine-color-default-border': 'var(--c-line-strong)',
  '--mantine-color-error': 'var(--c-bad-text)',
  '--mantine-color-anchor': 'var(--c-accent-text)',
  '--mantine-color-gray-light-color': 'var(--c-text-2)',
  '--mantine-color-gray-light-hover': 'var(--c-hover)',
  '--mantine-color-red-filled': '#c8372b',
  '--mantine-color-red-filled-hover': '#a8241b',
  '--mantine-color-ink-filled': 'var(--c-accent)',
  '--mantine-color-ink-filled-hover': 'var(--c-accent-hover)',
  '--mantine-color-ink-light': 'var(--c-accent-soft)',
  '--mantine-color-ink-light-color': 'var(--c-accent-text)',
  '--mantine-primary-color-filled': 'var(--c-accent)',
  '--mantine-primary-color-filled-hover': 'var(--c-accent-hover)',
};

/** Mantine reads its colours from the tokens, so light, dark and the past switch in one place. */
export const resolver: CSSVariablesResolver = () => ({ variables: {}, light: shared, dark: shared });
