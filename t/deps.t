# SPDX-License-Identifier: Apache-2.0
# make deps beside another program that installs, and after one that was
# broken off: t/deps is run with a package manager that is none, but says what
# Debian's says.
use strict;
use warnings;
use File::Temp qw(tempdir);
use Test::More;

my $dir = tempdir(CLEANUP => 1);

# A program in front of the real ones. Each run of it is noted in "calls";
# $text is what it does, with $n the number of this run of it.
sub program {
    my ($name, $text) = @_;
    open my $f, '>', "$dir/$name" or die "$name: $!";
    print {$f} <<"END";
#!/bin/sh
echo "$name \$*" >>$dir/calls
n=\$(grep -c "^$name " $dir/calls)
$text
END
    close $f;
    chmod 0755, "$dir/$name";
}

# Runs t/deps. @return (exit code, output, what it has called)
sub deps {
    my ($wait) = @_;
    unlink "$dir/calls";
    local $ENV{PATH} = "$dir:$ENV{PATH}";
    local $ENV{DEPS_WAIT} = $wait;
    my $out = `timeout 60 t/deps one two 2>&1`;
    my $code = $? >> 8;
    open my $f, '<', "$dir/calls" or die "calls: $!";
    chomp(my @calls = <$f>);
    return ($code, $out, join "\n", grep {/^(?:apt-get|dpkg) /} @calls);
}

my $update = 'apt-get -qq -o DPkg::Lock::Timeout=5 update';
my $install = 'apt-get -qq -o DPkg::Lock::Timeout=5 install -y'
    . ' --no-install-recommends two';
my $audit = 'dpkg --audit';
my $configure = 'dpkg --configure -a';
my $held = 'It is held by process 4711 (apt-get)';

program('dpkg-query', '[ "$4" = two ] || echo install ok installed');
program('sudo', 'exec "$@"') if $>;
program('apt-get', '');
program('dpkg', '');

my ($code, $out, $calls) = deps(60);
is $code, 0, 'a package is missing';
is $out, "installing: two\n", 'which is said';
is $calls, join("\n", $update, $audit, $install), 'and installed';

# --- each lock, each of those who want it
my $lists = 'E: Could not get lock /var/lib/apt/lists/lock. ' . $held;
my $dpkg = 'E: Unable to acquire the dpkg frontend lock'
    . ' (/var/lib/dpkg/lock-frontend), is another process using it?';
my $configures = 'dpkg: error: dpkg frontend lock was locked by another'
    . ' process with pid 4711';
program('apt-get', <<"END");
case "\$n \$*" in
    1*) echo '$lists' >&2; exit 100;;
    3*) echo '$dpkg' >&2; exit 100;;
esac
END
program('dpkg', <<"END");
case "\$n \$*" in
    1*) echo 'The following packages are only half configured';;
    2*) echo '$configures' >&2; exit 2;;
esac
END
($code, $out, $calls) = deps(60);
is $code, 0, 'the locks are held for a while: it waits';
is $calls, join("\n", $update, $update, $audit, $configure, $configure,
    $install, $install), 'for all of them';
my $waits =
    "make deps: another program uses the package manager, waiting:\n";
my $finishes = 'make deps: an installation was broken off, finishing it'
    . " (dpkg --configure -a)\n";
is $out, "installing: two\n$waits$lists\n$finishes$waits$configures\n"
    . "$waits$dpkg\n", 'and says why, in the words of the package manager';

# --- for ever
program('apt-get', "echo '$lists' >&2; exit 100");
($code, $out, $calls) = deps(2);
is $code, 1, 'a lock that stays: it gives up';
like $out, qr/\Q$lists\E\nmake deps: cannot install: two\n\z/,
    'and says what was in the way';

# --- an interruption that only apt-get notices
my $broken = "E: dpkg was interrupted, you must manually run"
    . " 'dpkg --configure -a' to correct the problem.";
program('apt-get', <<"END");
[ \$n = 2 ] && { echo "$broken" >&2; exit 100; }
exit 0
END
program('dpkg', '');
($code, $out, $calls) = deps(60);
is $code, 0, 'dpkg was interrupted: that is mended';
is $calls, join("\n", $update, $audit, $install, $configure, $install),
    'before it is tried again';
is $out, "installing: two\n$finishes", 'with a message';

# --- what is no lock is no reason to wait
program('apt-get', <<'END');
[ $n = 2 ] && { echo 'E: Unable to locate package two' >&2; exit 100; }
exit 0
END
($code, $out, $calls) = deps(60);
is $code, 1, 'any other failure ends it at once';
like $out, qr/^E: Unable to locate package two\n/m, 'with its message';
done_testing;
