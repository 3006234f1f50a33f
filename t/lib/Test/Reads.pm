# SPDX-License-Identifier: Apache-2.0
package Test::Reads;

# Which request fields httpd and its modules read, told by their machine code,
# and what the loop (src/http/request_field.h) and the rule book
# (docs/security.md, "Who reads which field") say of them.
#
#   Test::Reads::lacks;             # why the code cannot be read here, or ''
#   Test::Reads::of($object);       # names; '*': what is not a constant
#   Test::Reads::special('host');   # the loop looks at it, or refuses it
#   Test::Reads::all;               # the names of which that is true
#   Test::Reads::told;              # { module => { name => inert or not } }

use strict;
use warnings;
use POSIX ();

# Of x86-64's request_rec: the offset of headers_in.
my $headers_in = 'e8';

sub _slurp {
    my ($path) = @_;
    open my $fh, '<:raw', $path or die "$path: $!";
    local $/;
    return scalar <$fh>;
}

sub lacks {
    my $machine = (POSIX::uname())[4];
    return "reads code of x86-64, not of $machine" if $machine ne 'x86_64';
    for my $tool (qw(objdump readelf)) {
        return "no $tool" unless grep { -x "$_/$tool" } split /:/, $ENV{PATH};
    }
    return '';
}

# A sub that gives the string at an address of the object.
sub _strings {
    my ($object) = @_;
    my $bytes = _slurp($object);
    my @loads = map {
        /LOAD\s+0x(\w+)\s+0x(\w+)\s+\S+\s+0x(\w+)/
            ? [ hex $1, hex $2, hex $3 ] : ()
    } `readelf -lW $object`;
    return sub {
        my ($at) = @_;
        for (@loads) {
            my ($off, $start, $size) = @$_;
            next if $at < $start || $at >= $start + $size;
            return unpack 'Z*', substr $bytes, $off + $at - $start, 200;
        }
        return '';
    };
}

# Going back from a call: the string that is in rsi, and whether rdi is
# somebody's headers_in. Where the code does not run straight from there to
# here, only what looks like a field counts.
sub _arguments {
    my ($code, $call, $string) = @_;
    my ($key, $is_in, $second, $first) = (undef, undef, 'rsi', 'rdi');
    my $straight = 1;
    for (my $i = $call - 1; $i > 0 && $call - $i < 300; $i--) {
        my $line = $code->[$i];
        last if defined $key && defined $is_in || $line !~ /\t/;
        $straight = 0 if $line =~ /\s(?:jmp|ret)\b/;
        if (!defined $key) {
            if ($line =~ /\slea\s+\S+\(%rip\),%$second\s+# (\w+)/) {
                $key = $string->(hex $1);
                $key = '*' unless $straight || $key =~ /^[A-Z][\w-]*$/;
            }
            elsif ($line =~ /\smov\s+(%(r\w+)|\S+),%$second$/) {
                $2 ? ($second = $2) : ($key = '*');
            }
            elsif ($line =~ /\scall\b/ && $second !~ /^r(?:b[xp]|1[2-5])$/) {
                $key = '*'; # what a function left there
            }
        }
        if (!defined $is_in
            && $line =~ /\smov\s+(?:(%(r\w+))|(?:0x(\w+))?\(%r\w+\)),%$first$/) {
            $2 ? ($first = $2) : ($is_in = ($3 // '') eq $headers_in);
        }
    }
    return ($is_in, $key // '*');
}

sub of {
    my ($object) = @_;
    my $string = _strings($object);
    my @code = split /\n/, `objdump -d --no-show-raw-insn $object`;
    my %found;
    for my $i (0 .. $#code) {
        $code[$i] =~ /\s(?:call|jmp)\s.*<apr_table_(getm?|v?do|elts)\@plt>$/
            or next;
        my ($is_in, $key) = _arguments(\@code, $i, $string);
        next unless $is_in;
        $found{ $1 eq 'get' ? $key : '*' } = 1;
    }
    return sort keys %found;
}

# name => 1, of request_field.h
sub _listed {
    my $text = _slurp('src/http/request_field.h');
    my ($lists) = $text =~ /define REQUEST_FIELD_LIST(.*?)define REQUEST_FIELD_ID/s;
    return map { $_ => 1 } $lists =~ /X\((?:\w+,\s*)?"([a-z0-9-]+)"/g;
}

my %listed;

sub special {
    my ($name) = @_;
    %listed = _listed() unless %listed;
    return $listed{ lc $name };
}

# All special names, in lower case.
sub all {
    %listed = _listed() unless %listed;
    return sort keys %listed;
}

# The table of the rule book: module => { lower-case name => 'special' or
# 'inert' }, '*' for names that its directives name.
sub told {
    my ($table) = _slurp('docs/security.md')
        =~ /\| module \| special \| inert[^\n]*\n\|---[^\n]*\n(.*?)\n\n/s;
    my %told;
    for (split /\n/, $table // '') {
        my (undef, $modules, $special, $inert) = split /\|/;
        for my $module ($modules =~ /(\w+)/g) {
            $told{$module}{lc $_} = 'special' for $special =~ /`([\w*-]+)`/g;
            $told{$module}{lc $_} = 'inert' for $inert =~ /`([\w*-]+)`/g;
        }
    }
    return \%told;
}

1;
