# SPDX-License-Identifier: Apache-2.0
# "make install" and "uninstall" below a DESTDIR: every file where apxs says,
# none that somebody has edited is touched.
use strict;
use warnings;
use File::Find qw(find);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Test::More;
use Test::Httpd;

my $dir = tempdir('cpuaff-install-XXXXXX', DIR => '/tmp', CLEANUP => 1);
my $build = Test::Httpd::build_dir();

# An apxs of another layout: answers to -q, else the real one.
sub apxs {
    my ($name, %answers) = @_;
    my $real = $ENV{APXS} || (-x '/usr/bin/apxs' ? '/usr/bin/apxs' : 'apxs');
    my $cases = join '', map { "    $_) echo '$answers{$_}'; exit;;\n" }
        sort keys %answers;
    open my $f, '>', "$dir/$name" or die "$dir/$name: $!";
    print {$f} "#!/bin/sh\n[ \"\$1\" = -q ] && case \$2 in\n${cases}esac\n"
        . "exec $real \"\$@\"\n";
    close $f;
    chmod 0755, "$dir/$name";
    return "$dir/$name";
}

sub run_make {
    my ($apxs, $dest, $target) = @_;
    local @ENV{qw(MAKEFLAGS MFLAGS MAKELEVEL)};
    my $out = `make -o all BUILD='$build' APXS='$apxs' DESTDIR='$dest' $target 2>&1`;
    return ($?, $out);
}

sub files {
    my ($dest) = @_;
    my @files;
    find(sub { push @files, $File::Find::name =~ s/^\Q$dest\E//r if -f },
        $dest) if -d $dest;
    return [ sort @files ];
}

sub put {
    my ($path, $text) = @_;
    open my $f, '>', $path or die "$path: $!";
    print {$f} $text;
    close $f;
}

my %layouts = (
    debian => [ '/etc/apache2/mods-available', PROGNAME => 'apache2',
        SYSCONFDIR => '/etc/apache2', bindir => '/usr/bin',
        LIBEXECDIR => '/usr/lib/apache2/modules',
        datadir => '/usr/share/apache2' ],
    plain => [ '/opt/a/conf/extra', PROGNAME => 'httpd',
        SYSCONFDIR => '/opt/a/conf', bindir => '/opt/a/bin',
        LIBEXECDIR => '/opt/a/modules', datadir => '/opt/a/share/httpd' ],
);
for my $name (sort keys %layouts) {
    my ($conf, %answers) = @{ $layouts{$name} };
    my $apxs = apxs($name, %answers);
    my $dest = "$dir/$name dest"; # with a space
    my $file = "$dest$conf/cpuaffinity.conf";
    (my $share = $answers{datadir}) =~ s{/[^/]*\z}{/mod_cpuaffinity};
    my @want = sort "$answers{LIBEXECDIR}/mod_cpuaffinity.so",
        "$answers{bindir}/cpuaffinity",
        map { ("$conf/cpuaffinity.$_", "$share/cpuaffinity.$_") } qw(load conf);

    my ($rc, $out) = run_make($apxs, $dest, 'install');
    is $rc, 0, "$name: installs into an empty directory" or diag $out;
    is_deeply files($dest), \@want, '  all files, where apxs says';
    like Test::Httpd::slurp("$dest$conf/cpuaffinity.load"),
        qr{^LoadModule cpuaffinity_module \Q$answers{LIBEXECDIR}\E/mod_cpu}m,
        '  and it loads what is installed';

    # an older version that nobody has edited
    put($_, "# old\n") for $file, "$dest$share/cpuaffinity.conf";
    ($rc, $out) = run_make($apxs, $dest, 'install');
    is Test::Httpd::slurp($file),
        Test::Httpd::slurp("$dest$share/cpuaffinity.conf"),
        '  an unchanged file is replaced';
    unlike Test::Httpd::slurp($file), qr/^# old/, '  by the new one';

    put($file, "# mine\n");
    ($rc, $out) = run_make($apxs, $dest, 'install');
    is $rc, 0, '  installs again';
    is Test::Httpd::slurp($file), "# mine\n", '  an edited file is left';
    like Test::Httpd::slurp("$file.dist"), qr/CPUAffinity/,
        '  the new one is beside it';
    like $out, qr/edited.*\.dist/, '  and that is said';

    ($rc, $out) = run_make($apxs, $dest, 'uninstall');
    is $rc, 0, '  uninstalls';
    is_deeply files($dest), ["$conf/cpuaffinity.conf"],
        '  all but the edited file';
    like $out, qr/edited/, '  and that is said';
    unlink $file;
    run_make($apxs, $dest, 'install');
    run_make($apxs, $dest, 'uninstall');
    is_deeply files($dest), [], '  all of it, when nothing was edited';
    is +(run_make($apxs, $dest, 'uninstall'))[0], 0, '  twice is no error';
}

done_testing;
