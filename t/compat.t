# SPDX-License-Identifier: Apache-2.0
# Every source compiles for the oldest httpd that is promised: with the newer
# versions' names hidden (-DCOMPAT_OLDEST, src/base/compat.h), and with the
# headers in INCLUDES, a list of directories, if that is set.
use strict;
use warnings;
use Test::More;
use Test::Httpd;

my $apxs = Test::Httpd::apxs();
chomp(my $own = `$apxs -q INCLUDEDIR`);
chomp(my $apr = `apr-1-config --includes --cppflags` . ' '
    . `apu-1-config --includes`);
$apr =~ s/\n/ /g;
my @sources = ('mod_cpuaffinity.c', grep { !m{/cli/} } glob 'src/*/*.c');

sub compiles {
    my ($name, $cc, $include, @more) = @_;
    my @bad;
    for my $file (@sources) {
        my $out = `$cc -fsyntax-only -std=gnu11 -Wall -Werror -D_GNU_SOURCE @more -I. -Isrc -isystem $include $apr $file 2>&1`;
        push @bad, $out if $?;
    }
    ok !@bad, $name or diag @bad;
}

compiles('the oldest version', 'cc', $own, '-DCOMPAT_OLDEST');
SKIP: {
    skip 'no clang', 1 if system('clang --version >/dev/null 2>&1');
    compiles('clang, without a warning', 'clang', $own);
}
compiles("headers of $_", 'cc', $_) for split ' ', $ENV{INCLUDES} // '';

# Nobody else asks for what differs.
my @names = grep { !m{src/base/compat\.h:} }
    `grep -nE '\\b(ap_thread_create|DOCTYPE_HTML_4_01|AP_MODULE_MAGIC_AT_LEAST)\\b' mod_cpuaffinity.c src/*/*.[ch]`;
is "@names", '', 'versions are asked for in src/base/compat.h alone';

done_testing;
